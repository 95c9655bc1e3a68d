#include "deft/solvers/status.hpp"

#include "deft/core/index.hpp"

#include <array>

namespace deft::solvers {
namespace {

struct Words { std::string_view word, sentence; };

constexpr std::array<Words, kNumStatuses> kWords{{
    {"Solved", "A solution was found and its motion is unique."},
    {"NotUnique", "A solution was found, but other motions are as good; the one of least kinetic energy was taken."},
    {"Infeasible", "A proof that no motion satisfies all constraints was found."},
    {"Unbounded", "The energy decreases without limit: nothing carries one of the bodies."},
    {"RayTermination", "The pivoting ended on a ray, which proves nothing about the problem."},
    {"IterationLimit", "The iteration limit struck before the tolerance was met; the best iterate is returned."},
    {"TimeLimit", "The time limit struck before the tolerance was met; the best iterate is returned."},
    {"NumericalFailure", "Rounding errors stopped the solver before the tolerance was met."},
}};

}  // namespace

std::string_view to_string(Status status) { return kWords[to_size(status)].word; }
std::string_view sentence(Status status) { return kWords[to_size(status)].sentence; }

}  // namespace deft::solvers
