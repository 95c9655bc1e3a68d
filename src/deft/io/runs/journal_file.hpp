#pragma once
// DIR/search.journal: what a search found so far, batch by batch, so that it can go on after a kill.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "deft/planning/feasibility/journal.hpp"

namespace deft::io {

/// What a run of the planner depends on.
struct JournalHeader {
  std::string goal, version;  // name of the goal; of this program
  std::uint64_t seed = 0;     // of the first search
  int seeds = 1;              // searches, one per seed
  std::string scene_yaml;     // the merged scene
};

/// A file of records that is only ever appended to, each with its length and hash and written in one piece: after a
/// kill at any instant what was kept is whole, but for a last record that is torn and left out. Holds the header, the
/// results of the searches that ended, and the batches of the current one (README.md). The file is locked for this
/// process (flock).
class JournalFile final : public planning::Journal {
 public:
  /// Begins the journal of a new run. @throws InputError if it cannot be written.
  JournalFile(const std::string& folder, const JournalHeader& header);
  /// That of an earlier run, to go on with. @throws InputError if there is none, or another process writes to it.
  explicit JournalFile(const std::string& folder);
  ~JournalFile() override;
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  const JournalHeader& header() const;  // of the run that the journal belongs to
  /// Results as end_search took them, one per seed.
  const std::vector<std::string>& results() const;
  /// @throws InputError that names what differs: goal, seed, seeds, version, every setting of the scene. The limit of
  /// time (plan.time_limit_s) may differ.
  void require_same(const JournalHeader& here) const;

  bool has_next() const override;  // whether records of the earlier run are left
  /// @throws InputError if the next record is no batch.
  std::string_view next() const override;
  void drop_next() override;  // goes on to the next record; a torn one is cut off the file with a warning
  /// One `write` of the system. @throws std::runtime_error with the reason, std::logic_error while has_next().
  void keep(std::string_view batch) override;
  /// The current search has ended: replaces the file by one with its result and without its batches.
  /// @throws std::runtime_error with the reason.
  void end_search(const std::string& result);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace deft::io
