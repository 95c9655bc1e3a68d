#include "deft/io/runs/hdf5_horizon.hpp"

#include <algorithm>
#include <array>

#include "deft/core/index.hpp"

namespace deft::io {
namespace {

using dynamics::HorizonPair;
using dynamics::HorizonRecord;

/// Lists of numbers, per step or per pair, whose lengths the horizon decides.
struct Block {
  const char* path;
  std::vector<double> HorizonRecord::* field;
};
constexpr std::array kBlocks{Block{"/mpc/x", &HorizonRecord::x}, Block{"/mpc/u", &HorizonRecord::u},
                             Block{"/mpc/X_WB", &HorizonRecord::X_WB}, Block{"/mpc/gamma", &HorizonRecord::gamma},
                             Block{"/mpc/slack", &HorizonRecord::slack}};
constexpr std::size_t kBlocksPerStep = 3;  // the first ones; the others are per pair
constexpr std::size_t kPairNumbers = 4;    // kind, a, b, index

constexpr std::array kHorizonNumbers{
    scalar<HorizonRecord, double, &HorizonRecord::cost>("/mpc/cost"),
    scalar<HorizonRecord, double, &HorizonRecord::bound>("/mpc/bound"),
    scalar<HorizonRecord, double, &HorizonRecord::gap>("/mpc/gap"),
    scalar<HorizonRecord, double, &HorizonRecord::time_s>("/mpc/time_s"),
};
constexpr std::array kHorizonCounts{scalar<HorizonRecord, std::int64_t, &HorizonRecord::nodes>("/mpc/nodes")};
constexpr std::array kHorizonStatuses{scalar<HorizonRecord, std::int32_t, &HorizonRecord::status>("/mpc/status")};
constexpr std::array kHorizonFlags{scalar<HorizonRecord, std::uint8_t, &HorizonRecord::fallback>("/mpc/fallback")};

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
  hdf5::make_group(file, "/mpc");
  return file;
}

}  // namespace

HorizonColumns::HorizonColumns(hid_t file, const dynamics::Trajectory& start)
    : offset_(with_group(file), "/mpc/offset", {}) {
  hdf5::write_attribute(file, "names_x", start.names_x);
  hdf5::write_attribute(file, "horizon", std::vector<std::int32_t>{start.horizon});
  hdf5::write_attribute(file, "pair_kinds", std::vector<std::string>{"normal", "friction", "slip", "limit"});
  for (std::size_t b = 0; b < kBlocks.size(); ++b) blocks_.emplace_back(file, kBlocks[b].path, shape_of(b, start));
  create_columns(file, kHorizonNumbers, numbers_);
  create_columns(file, kHorizonCounts, counts_);
  create_columns(file, kHorizonStatuses, statuses_);
  pairs_.emplace_back(file, "/mpc/pairs", std::vector<hsize_t>{kPairNumbers});
  create_columns(file, kHorizonFlags, flags_);
  offset_.append({0});
}

void HorizonColumns::append(const std::vector<HorizonRecord>& records) {
  std::vector<double> values;
  for (std::size_t b = 0; b < kBlocks.size(); ++b) {
    values.clear();
    for (const HorizonRecord& r : records)
      values.insert(values.end(), (r.*kBlocks[b].field).begin(), (r.*kBlocks[b].field).end());
    blocks_[b].append(values);
  }
  append_columns(records, kHorizonNumbers, numbers_);
  append_columns(records, kHorizonCounts, counts_);
  append_columns(records, kHorizonStatuses, statuses_);
  std::vector<std::int64_t> offset;
  std::vector<std::int32_t> pairs;
  for (const HorizonRecord& r : records) {
    for (const HorizonPair& pair : r.pairs)
      pairs.insert(pairs.end(), {static_cast<std::int32_t>(pair.kind), pair.a, pair.b, pair.index});
    num_pairs_ += static_cast<std::int64_t>(r.pairs.size());
    offset.push_back(num_pairs_);
  }
  pairs_[0].append(pairs);
  append_columns(records, kHorizonFlags, flags_);
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
  std::vector<std::vector<double>> blocks;
  for (const Block& block : kBlocks) blocks.push_back(hdf5::read_values<double>(file, block.path).data);
  const auto pairs = hdf5::read_values<std::int32_t>(file, "/mpc/pairs").data;

  // Columns of a killed run may end at different rows: steps of which anything is missing do not count.
  std::vector<HorizonRecord>& records = motion.horizons;
  records.resize(std::min(steps, offset.data.size() - 1));
  read_columns(file, kHorizonNumbers, records, Absent::kNoRecords);
  read_columns(file, kHorizonCounts, records, Absent::kNoRecords);
  read_columns(file, kHorizonStatuses, records, Absent::kNoRecords);
  read_columns(file, kHorizonFlags, records, Absent::kNoRecords);
  for (std::size_t b = 0; b < kBlocksPerStep; ++b)
    if (widths[b] > 0) records.resize(std::min(records.size(), blocks[b].size() / widths[b]));
  const std::size_t known = std::min({pairs.size() / kPairNumbers, blocks[3].size() / std::max<std::size_t>(N, 1),
                                      blocks[4].size() / std::max<std::size_t>(N, 1)});
  for (std::size_t k = 0; k < records.size(); ++k) {
    if (offset.data[k + 1] < offset.data[k] || to_size(offset.data[k + 1]) > known) return records.resize(k);
    const auto first = to_size(offset.data[k]), end = to_size(offset.data[k + 1]);
    for (std::size_t b = 0; b < kBlocks.size(); ++b) {
      const std::size_t from = b < kBlocksPerStep ? k : first, to = b < kBlocksPerStep ? k + 1 : end;
      (records[k].*kBlocks[b].field)
          .assign(blocks[b].begin() + static_cast<std::ptrdiff_t>(from * widths[b]),
                  blocks[b].begin() + static_cast<std::ptrdiff_t>(to * widths[b]));
    }
    for (std::size_t i = first; i < end; ++i) {
      const std::int32_t* pair = pairs.data() + kPairNumbers * i;
      records[k].pairs.push_back({static_cast<HorizonPair::Kind>(pair[0]), pair[1], pair[2], pair[3]});
    }
  }
}

}  // namespace deft::io
