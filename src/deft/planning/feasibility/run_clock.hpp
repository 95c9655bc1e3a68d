#pragma once
// The time of a run of the planner, with that of the runs that it continues.

#include <cstdint>

#include "deft/core/stopwatch.hpp"
#include "deft/planning/feasibility/byte_serialization.hpp"
#include "deft/planning/feasibility/journal.hpp"

namespace deft::planning {

/// Wall time of a run and what was decided by it. Each batch in the journal knows when it was grown and how many limits
/// of time had been met before it, so that a run that repeats another one stops where that one did.
class RunClock {
 public:
  /// @param journal  of the run, must outlive this object; none: nothing is kept or repeated.
  explicit RunClock(Journal* journal = nullptr) : journal_(journal) {}

  /// Since the start of the first of the runs [s].
  double seconds() const { return before_s_ + watch_.seconds(); }
  /// Whether batches of an earlier run are left: stops wait until there are none.
  bool repeats() const { return journal_ != nullptr && journal_->has_next(); }
  /// Whether a limit of time is met; while the run repeats another one, whether that one met it. To be asked at the
  /// same points in every run.
  bool is_up(double until_s) {
    bool up = seconds() > until_s;
    if (repeats()) {
      std::int32_t met = 0;
      Unpacker(journal_->next())(met);
      up = met > met_;
    }
    met_ += up;
    return up;
  }

  /// Keeps a batch of now, if there is a journal. @param pack  writes it to a Packer. @returns the time [s].
  template <typename Pack>
  double keep(const Pack& pack) {
    const double now_s = seconds();
    if (journal_ == nullptr) return now_s;
    Packer out;
    out(met_, now_s);
    pack(out);
    journal_->keep(out.bytes);
    return now_s;
  }
  /// Takes the next batch back; it is then when it was kept. @pre repeats(). @returns the time [s].
  template <typename Unpack>
  double repeat(const Unpack& unpack) {
    Unpacker in(journal_->next());
    std::int32_t met = 0;
    in(met, before_s_);
    unpack(in);
    watch_.restart();
    journal_->drop_next();
    return before_s_;
  }

 private:
  Journal* journal_;
  double before_s_ = 0;
  Stopwatch watch_;
  std::int32_t met_ = 0;  // limits of time so far
};

}  // namespace deft::planning
