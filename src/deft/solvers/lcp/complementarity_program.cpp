#include "deft/solvers/lcp/complementarity_program.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace deft::solvers::lcp {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw std::invalid_argument("complementarity program: " + message);
}

}  // namespace

std::string_view to_string(Uniqueness uniqueness) {
  switch (uniqueness) {
    case Uniqueness::kUnique:
      return "unique";
    case Uniqueness::kNotUnique:
      return "not_unique";
    case Uniqueness::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view sentence(Status status, Uniqueness uniqueness) {
  if (status == Status::kSolved)
    return uniqueness == Uniqueness::kUnique ? "A solution was found, and no other has another motion."
                                             : "A solution was found; whether there are others is not known.";
  if (status == Status::kNotUnique) return "A solution was found, and a second one with another motion.";
  if (status == Status::kInfeasible) return "A proof that no contact mode has a solution was found.";
  return sentence(status);
}

void check(const ComplementarityProgram& program) {
  const auto n = program.q.size();
  if (program.M.rows() != n || program.M.cols() != n)
    refuse(fmt::format("M is {} × {}, needs {} × {} (the size of q)", program.M.rows(), program.M.cols(), n, n));
  if (program.motion.size() > 0 && program.motion.cols() != n)
    refuse(fmt::format("motion has {} columns, needs {} (the size of q)", program.motion.cols(), n));
  if (!program.q.allFinite()) refuse("q: a value is not finite");
  if (!program.M.allFinite()) refuse("M: a value is not finite");
  if (!program.motion.allFinite()) refuse("motion: a value is not finite");
  int last = -1;
  for (const int i : program.free) {
    if (i < 0 || i >= n) refuse(fmt::format("free: index {} is not one of 0 … {}", i, n - 1));
    if (i <= last) refuse(fmt::format("free: index {} after {}; indices must increase", i, last));
    last = i;
  }
}

}  // namespace deft::solvers::lcp
