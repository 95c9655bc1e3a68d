#include "solve_patch.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/patch/patch_problem_solver.hpp"
#include "deft/math/percentile.hpp"
#include "interrupt.hpp"

namespace deft::cli {

dynamics::PatchAnswer solve_patch(const io::PatchProblemFile& file, const PatchOptions& options, double& time_s) {
  dynamics::PatchProblemSolver solver(file.problem);
  if (options.tolerance) solver.settings().tolerance = *options.tolerance;
  if (options.time_limit_s) solver.settings().time_limit_s = *options.time_limit_s;
  dynamics::PatchAnswer first, answer;
  std::vector<double> times_s;
  for (int i = 0; i < options.repeat && !(i > 0 && interrupted()); ++i) {
    const Stopwatch watch;
    solver.solve(i == 0 ? first : answer);
    times_s.push_back(watch.seconds());
  }
  time_s = percentile(times_s, 0.5);
  return first;
}

void print_patch(const io::PatchProblemFile& file, const dynamics::PatchAnswer& answer, double time_s) {
  const dynamics::PatchProblem& problem = file.problem;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(answer.status), io::patch_sentence(answer.status));
  fmt::print("  problem     {} bodies, {} pairs, h {:g} s\n", problem.bodies.size(), problem.pairs.size(), problem.h);
  fmt::print("  solver      {}, {} iterations, {} starts, {:.1f} µs\n", answer.method, answer.iterations,
             answer.attempts, 1e6 * time_s);
  if (!solvers::usable(answer.status)) return;
  const solvers::contact::Certificate& c = answer.certificate;
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             c.primal, c.complementarity);
  fmt::print("              {:.2e} N s  {:.2e} m  {:.2e} J s\n", answer.balance_Ns, answer.penetration_m,
             answer.complementarity_Js);
  fmt::print("  velocities at the end (ω_W [rad/s], v_W [m/s])\n");
  for (std::size_t i = 0; i < answer.end.size(); ++i) {
    if (!(problem.bodies[i].mass > 0)) continue;
    const dynamics::PatchState& s = answer.end[i];
    fmt::print("    {:>4}  {:12.5g} {:12.5g} {:12.5g}  {:12.5g} {:12.5g} {:12.5g}\n", i, s.omega_W.x(), s.omega_W.y(),
               s.omega_W.z(), s.v_WC.x(), s.v_WC.y(), s.v_WC.z());
  }
  static constexpr std::array<const char*, 4> kKinds{"none", "point", "line", "surface"};
  static constexpr std::array<const char*, 3> kStates{"open", "stick", "slip"};
  fmt::print("  pairs (a-b, kind, state, gap [m]; point [m]; p_n, p_t, p_o [N s], p_r [N m s])\n");
  for (const dynamics::PatchProblemContact& found : answer.contacts) {
    const dynamics::PatchContact& k = found.contact;
    const dynamics::PatchProblemPair& pair = problem.pairs[k.pair];
    fmt::print(
        "    {:>4}-{:<4} {:<7} {:<5} {:11.3e}  {:10.5g} {:10.5g} {:10.5g}  {:11.5g} {:11.5g} {:11.5g} {:11.5g}\n",
        pair.a, pair.b, kKinds[to_size(found.kind)], kStates[to_size(found.state)], k.gap, k.point_W.x(), k.point_W.y(),
        k.point_W.z(), k.p_n, k.p_f(0), k.p_f(1), k.p_f(2));
  }
}

}  // namespace deft::cli
