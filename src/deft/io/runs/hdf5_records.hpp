#pragma once
// Records as columns of run.h5: one list of members serves creating, appending and reading. Internal to io.

#include <algorithm>
#include <array>
#include <tuple>
#include <type_traits>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/io/runs/hdf5_access.hpp"

namespace deft::io {

/// One member of a record as a column of the file: values of type Stored, `width` of them per record.
template <typename Record, typename Stored>
struct Member {
  const char* path;                     // of the dataset
  int width;                            // numbers per record
  void (*get)(const Record&, Stored*);  // writes them behind the pointer
  void (*set)(Record&, const Stored*);  // reads them from there
};

/// A number.
template <typename Record, typename Stored, auto member>
constexpr Member<Record, Stored> scalar(const char* path) {
  return {
      path, 1, [](const Record& r, Stored* out) { *out = static_cast<Stored>(r.*member); },
      [](Record& r, const Stored* in) { r.*member = static_cast<std::remove_reference_t<decltype(r.*member)>>(*in); }};
}
/// A fixed list of numbers.
template <typename Record, auto member>
constexpr Member<Record, double> vector(const char* path) {
  constexpr int width = static_cast<int>(std::tuple_size_v<std::remove_reference_t<decltype(Record{}.*member)>>);
  return {path, width, [](const Record& r, double* out) { std::copy_n((r.*member).begin(), width, out); },
          [](Record& r, const double* in) { std::copy_n(in, width, (r.*member).begin()); }};
}
/// Columns of one type, in the order of their members.
template <typename T>
using Columns = std::vector<hdf5::Column<T>>;

/// Creates the empty datasets of the members.
template <typename Record, typename Stored, std::size_t N>
void create_columns(hid_t file, const std::array<Member<Record, Stored>, N>& members, Columns<Stored>& columns) {
  for (const auto& member : members) {
    columns.emplace_back(
        file, member.path,
        member.width == 1 ? std::vector<hsize_t>{} : std::vector<hsize_t>{static_cast<hsize_t>(member.width)});
  }
}

/// Appends a row per record to each column.
template <typename Record, typename Stored, std::size_t N>
void append_columns(const std::vector<Record>& records, const std::array<Member<Record, Stored>, N>& members,
                    Columns<Stored>& columns) {
  std::vector<Stored> values;
  for (std::size_t c = 0; c < N; ++c) {
    const auto width = to_size(members[c].width);
    values.resize(records.size() * width);
    for (std::size_t i = 0; i < records.size(); ++i) members[c].get(records[i], values.data() + i * width);
    columns[c].append(values);
  }
}

/// What a column that the file lacks means: its members keep their defaults, or no record is whole.
enum class Absent { kDefaults, kNoRecords };

/// Fills one member of every record; records beyond the column are cut off.
template <typename Record, typename Stored, std::size_t N>
void read_columns(hid_t file, const std::array<Member<Record, Stored>, N>& members, std::vector<Record>& records,
                  Absent absent = Absent::kDefaults) {
  for (const auto& member : members) {
    const hdf5::Values<Stored> column = hdf5::read_values<Stored>(file, member.path);
    if (!column.found && absent == Absent::kDefaults) continue;
    const auto width = to_size(member.width);
    if (column.data.size() / width < records.size()) records.resize(column.data.size() / width);
    for (std::size_t i = 0; i < records.size(); ++i) member.set(records[i], column.data.data() + i * width);
  }
}

/// Rows of `width` numbers.
inline std::vector<std::vector<double>> unflatten(const std::vector<double>& flat, std::size_t rows,
                                                  std::size_t width) {
  std::vector<std::vector<double>> result(rows);
  for (std::size_t k = 0; k < rows; ++k)
    result[k].assign(flat.begin() + static_cast<std::ptrdiff_t>(k * width),
                     flat.begin() + static_cast<std::ptrdiff_t>((k + 1) * width));
  return result;
}

}  // namespace deft::io
