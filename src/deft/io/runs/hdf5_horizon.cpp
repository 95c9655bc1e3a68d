#include "deft/io/runs/hdf5_horizon.hpp"

#include <algorithm>
#include <array>

#include "deft/core/index.hpp"

namespace deft::io {
namespace {

using dynamics::HorizonPair;
using dynamics::HorizonRecord;

/// One member of a record: numbers per step, or per pair.
struct Numbers {
  const char* path;
  std::vector<double> HorizonRecord::* field;
};
constexpr std::array kBlocks{Numbers{"/mpc/x", &HorizonRecord::x}, Numbers{"/mpc/u", &HorizonRecord::u},
                             Numbers{"/mpc/X_WB", &HorizonRecord::X_WB}, Numbers{"/mpc/gamma", &HorizonRecord::gamma},
                             Numbers{"/mpc/slack", &HorizonRecord::slack}};
struct Scalar {
  const char* path;
  double HorizonRecord::* field;
};
constexpr std::array kScalars{Scalar{"/mpc/cost", &HorizonRecord::cost}, Scalar{"/mpc/bound", &HorizonRecord::bound},
                              Scalar{"/mpc/gap", &HorizonRecord::gap}, Scalar{"/mpc/time_s", &HorizonRecord::time_s}};

std::vector<hsize_t> shape_of(std::size_t block, const dynamics::Trajectory& start) {
  const auto N = static_cast<hsize_t>(start.horizon);
  switch (block) {
    case 0:
      return {N + 1, start.names_x.size()};
    case 1:
      return {N, start.names_u.size()};
    case 2:
      return {N + 1, start.names_bodies.size(), 7};
    default:
      return {N};  // per pair
  }
}

hid_t with_group(hid_t file) {
  const hdf5::Handle made(H5Gcreate2(file, "/mpc", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create /mpc");
  return file;
}

}  // namespace

HorizonColumns::HorizonColumns(hid_t file, const dynamics::Trajectory& start)
    : offset_(with_group(file), "/mpc/offset", {}) {
  hdf5::write_attribute(file, "names_x", start.names_x);
  hdf5::write_attribute(file, "horizon", std::vector<std::int32_t>{start.horizon});
  hdf5::write_attribute(file, "pair_kinds", std::vector<std::string>{"normal", "friction", "slip", "limit"});
  for (std::size_t b = 0; b < kBlocks.size(); ++b) numbers_.emplace_back(file, kBlocks[b].path, shape_of(b, start));
  for (const Scalar& scalar : kScalars) numbers_.emplace_back(file, scalar.path, std::vector<hsize_t>{});
  counts_.emplace_back(file, "/mpc/nodes", std::vector<hsize_t>{});
  indices_.emplace_back(file, "/mpc/status", std::vector<hsize_t>{});
  indices_.emplace_back(file, "/mpc/pairs", std::vector<hsize_t>{4});
  flags_.emplace_back(file, "/mpc/fallback", std::vector<hsize_t>{});
  offset_.append({0});
}

void HorizonColumns::append(const std::vector<HorizonRecord>& records) {
  std::vector<double> values;
  for (std::size_t b = 0; b < kBlocks.size(); ++b) {
    values.clear();
    for (const HorizonRecord& r : records)
      values.insert(values.end(), (r.*kBlocks[b].field).begin(), (r.*kBlocks[b].field).end());
    numbers_[b].append(values);
  }
  for (std::size_t s = 0; s < kScalars.size(); ++s) {
    values.clear();
    for (const HorizonRecord& r : records) values.push_back(r.*kScalars[s].field);
    numbers_[kBlocks.size() + s].append(values);
  }
  std::vector<std::int64_t> nodes, offset;
  std::vector<std::int32_t> status, pairs;
  std::vector<std::uint8_t> fallback;
  for (const HorizonRecord& r : records) {
    nodes.push_back(r.nodes);
    status.push_back(r.status);
    fallback.push_back(r.fallback ? 1 : 0);
    for (const HorizonPair& pair : r.pairs)
      pairs.insert(pairs.end(), {static_cast<std::int32_t>(pair.kind), pair.a, pair.b, pair.index});
    pairs_ += static_cast<std::int64_t>(r.pairs.size());
    offset.push_back(pairs_);
  }
  counts_[0].append(nodes);
  indices_[0].append(status);
  indices_[1].append(pairs);
  flags_[0].append(fallback);
  offset_.append(offset);
}

void read_horizons(hid_t file, std::size_t steps, dynamics::Trajectory& motion) {
  const hdf5::Values<std::int64_t> offset = hdf5::read_values<std::int64_t>(file, "/mpc/offset");
  const std::vector<std::int32_t> horizon = hdf5::read_numbers(file, "horizon");
  if (!offset.found || horizon.empty() || offset.data.empty()) return;
  motion.names_x = hdf5::read_texts(file, "names_x");
  motion.horizon = horizon[0];
  const auto N = to_size(motion.horizon);
  const std::size_t widths[] = {(N + 1) * motion.names_x.size(), N * motion.names_u.size(),
                                (N + 1) * motion.names_bodies.size() * 7, N, N};
  std::vector<std::vector<double>> blocks, scalars;
  for (const Numbers& block : kBlocks) blocks.push_back(hdf5::read_values<double>(file, block.path).data);
  for (const Scalar& scalar : kScalars) scalars.push_back(hdf5::read_values<double>(file, scalar.path).data);
  const auto nodes = hdf5::read_values<std::int64_t>(file, "/mpc/nodes").data;
  const auto status = hdf5::read_values<std::int32_t>(file, "/mpc/status").data;
  const auto pairs = hdf5::read_values<std::int32_t>(file, "/mpc/pairs").data;
  const auto fallback = hdf5::read_values<std::uint8_t>(file, "/mpc/fallback").data;

  // Columns of a killed run may end at different rows: steps of which anything is missing do not count.
  std::size_t rows = std::min({steps, offset.data.size() - 1, nodes.size(), status.size(), fallback.size()});
  for (std::size_t b = 0; b < 3; ++b)
    if (widths[b] > 0) rows = std::min(rows, blocks[b].size() / widths[b]);
  for (const auto& scalar : scalars) rows = std::min(rows, scalar.size());
  const std::size_t known = std::min({pairs.size() / 4, blocks[3].size() / std::max<std::size_t>(N, 1),
                                      blocks[4].size() / std::max<std::size_t>(N, 1)});
  for (std::size_t k = 0; k < rows; ++k) {
    if (offset.data[k + 1] < offset.data[k] || to_size(offset.data[k + 1]) > known) break;
    const auto first = to_size(offset.data[k]), end = to_size(offset.data[k + 1]);
    HorizonRecord& r = motion.horizons.emplace_back();
    for (std::size_t b = 0; b < kBlocks.size(); ++b) {
      const std::size_t from = b < 3 ? k : first, to = b < 3 ? k + 1 : end;
      (r.*kBlocks[b].field)
          .assign(blocks[b].begin() + static_cast<std::ptrdiff_t>(from * widths[b]),
                  blocks[b].begin() + static_cast<std::ptrdiff_t>(to * widths[b]));
    }
    for (std::size_t s = 0; s < kScalars.size(); ++s) r.*kScalars[s].field = scalars[s][k];
    r.nodes = nodes[k];
    r.status = status[k];
    r.fallback = fallback[k] != 0;
    for (std::size_t i = first; i < end; ++i)
      r.pairs.push_back(
          {static_cast<HorizonPair::Kind>(pairs[4 * i]), pairs[4 * i + 1], pairs[4 * i + 2], pairs[4 * i + 3]});
  }
}

}  // namespace deft::io
