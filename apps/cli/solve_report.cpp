#include "solve_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solve_lcs.hpp"
#include "solve_patch.hpp"

namespace deft::cli {
namespace {

/// Word of the command line for a method.
std::string_view name_of(solvers::contact::SolveMethod method) {
  return method == solvers::contact::SolveMethod::kActiveSet ? "active-set" : "ipm";
}

}  // namespace

void print_solved(const io::ContactProblemFile& file, const ContactSolved& solved) {
  const auto& program = file.program;
  const solvers::contact::Certificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status), solvers::sentence(solved.status));
  fmt::print("  problem     nv {}, {} contacts, {}\n", program.nv, program.contacts.size(),
             program.model == solvers::contact::FrictionModel::kCone ? "cone"
                                                                     : fmt::format("pyramid of {} rays", program.rays));
  fmt::print("  solver      {}, {} iterations, {:.1f} µs\n", name_of(solved.method), solved.iterations,
             1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             c.primal, c.complementarity);
  fmt::print("              {:.2e} N  {:.2e} m  {:.2e} J\n", c.stationarity_N, c.primal_m, c.complementarity_J);
  fmt::print("  unique      motion {}, forces {}\n", solved.solution.motion_unique ? "yes" : "no",
             solved.solution.forces_unique ? "yes" : "no");
  fmt::print("  loaded contacts (gap [m], force [N])\n");
  for (std::size_t i = 0; i < solved.solution.force.size(); ++i) {
    const auto& f = solved.solution.force[i];
    if (f[0] > 0)
      fmt::print("    {:>4}  {:12.4e}  {:12.5g} {:12.5g} {:12.5g} {:12.5g}\n", i, solved.solution.gap[i], f[0], f[1],
                 f[2], f[3]);
  }
}

void print_solved(const io::DelassusProblemFile& file, const DelassusSolved& solved) {
  const solvers::force_space::DelassusCertificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status), solvers::sentence(solved.status));
  fmt::print("  problem     {} contacts in {}, {} nonzeros of W, {} law\n", file.program.mu.size(),
             file.program.dim == 2 ? "the plane" : "space", file.program.W.nonZeros(),
             file.program.law == solvers::force_space::SlidingLaw::kCoulomb ? "Coulomb's" : "the associated");
  fmt::print("  solver      ipm, {} iterations, {:.1f} µs\n", solved.iterations, 1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             std::max(c.primal, c.dual), c.complementarity);
}

void print_solved(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved) {
  const solvers::lcp::ComplementarityCertificate& c = solved.certificate;
  fmt::print("{}  {}\n  {}\n", file.name, solvers::to_string(solved.status),
             solvers::lcp::sentence(solved.status, solved.solution.uniqueness));
  fmt::print("  problem     {} of size {}, {} free\n", file.kind, file.program.q.size(), file.program.free.size());
  fmt::print("  solver      {}, {} iterations, {} modes, {:.1f} µs\n", solved.method, solved.iterations, solved.modes,
             1e6 * solved.time_s);
  fmt::print("  residuals   stationarity {:.2e}  primal {:.2e}  complementarity {:.2e} (scaled)\n", c.stationarity,
             c.primal, c.complementarity);
  fmt::print("  unique      {}\n", solvers::lcp::to_string(solved.solution.uniqueness));
  if (solved.status == solvers::Status::kInfeasible) {
    fmt::print("  proof       {} parts, error {:.1e}\n", solved.solution.proof.size(), c.infeasible);
    return;
  }
  const bool second = solved.solution.second_z.size() > 0;
  fmt::print("  entries that are not zero (z, w{})\n", second ? ", z of the second solution" : "");
  for (Eigen::Index i = 0; i < solved.solution.z.size(); ++i) {
    const double other = second ? solved.solution.second_z[i] : 0;
    if (solved.solution.z[i] == 0 && other == 0) continue;
    fmt::print("    {:>4}  {:14.6g} {:14.6g}", i, solved.solution.z[i], solved.solution.w[i]);
    if (second) fmt::print(" {:14.6g}", other);
    fmt::print("\n");
  }
}

void print_solved(const io::LcsProblemFile& file, const ControlSolved& solved) { print_lcs(file, solved.found); }
void print_solved(const io::PatchProblemFile& file, const PatchSolved& solved) {
  print_patch(file, solved.found, solved.time_s);
}

std::string result_json(const io::LcsProblemFile& file, const ControlSolved& solved) {
  return io::lcs_result_json(file, solved.found);
}
std::string result_json(const io::PatchProblemFile& file, const PatchSolved& solved) {
  return io::patch_result_json(file, solved.found, solved.time_s);
}
std::string result_json(const io::ContactProblemFile& file, const ContactSolved& solved) {
  return io::contact_result_json(file, solved.status, solved.time_s, solved.iterations, solved.certificate,
                                 solved.solution, name_of(solved.method));
}
std::string result_json(const io::DelassusProblemFile& file, const DelassusSolved& solved) {
  return io::delassus_result_json(file, solved.status, solved.time_s, solved.iterations, solved.certificate,
                                  solved.solution);
}
std::string result_json(const io::ComplementarityProblemFile& file, const ComplementaritySolved& solved) {
  return io::complementarity_result_json(file, solved.status, solved.time_s, solved.iterations, solved.modes,
                                         solved.certificate, solved.solution, solved.method);
}

}  // namespace deft::cli
