// The contact solver on the real problems, with the rivals that were built (benchmarks/rivals) in the same process:
// accuracy against the references, and the time of one solve, cold and along the sequence. Prints a table or JSON,
// writes nothing. Times [µs] are those of one call: what was kept is updated, the program solved, the motion read;
// matrices are there before, of each solver in the form that it takes.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "deft/core/stopwatch.hpp"
#include "deft/math/percentile.hpp"
#include "deft/solvers/contact/certificate/certificate.hpp"
#include "deft/solvers/contact/contact_solver.hpp"
#include "deft/solvers/kernels/isa.hpp"
#include "rivals/rival.hpp"
#include "support/dense_program.hpp"
#include "support/problem_reader.hpp"

namespace {

using namespace deft;
using benchmarks::DenseProgram;
using benchmarks::RealProblem;

constexpr const char* kSequences[] = {"planar_hand_pyr", "planar_hand_cone",     "allegro_pyr",
                                      "allegro_cone",    "pick_place_grasp_pyr", "pick_place_grasp_cone"};

/// One problem in both forms.
struct Task {
  RealProblem problem;
  DenseProgram dense;
  double E0;
};

/// One way of solving: whether it solved, with the motion in `delta`, size nv.
struct Contestant {
  std::string name;
  bool keeps = false;           // from one problem to the next: the first of a sequence does not count
  bool takes_cones = false;     // not rows of pyramids alone
  std::function<void()> begin;  // a sequence begins
  std::function<bool(const Task&, Eigen::VectorXd&)> solve;
  std::function<double(const Task&)> certificate;  // of the last solution; ours alone
};

struct Row {
  std::string sequence, who;
  int failed = 0;
  double energy_error = 0, certificate = -1;  // certificate: ours alone
  std::vector<double> times;
};

/// deft, from nothing or from the solution before.
struct Deft {
  explicit Deft(bool warm) { settings.warm_start = warm; }
  solvers::contact::ContactSolver solver;
  solvers::contact::SolverSettings settings;
  solvers::contact::ContactSolution solution;
};

std::vector<Contestant> contestants(const std::string& start) {
  std::vector<Contestant> all;
  for (const bool warm : {false, true}) {
    if (!start.empty() && start != (warm ? "warm" : "cold")) continue;
    const auto deft = std::make_shared<Deft>(warm);
    all.push_back({warm ? "deft warm" : "deft cold", warm, true, [deft] { deft->solver.forget(); },
                   [deft](const Task& task, Eigen::VectorXd& delta) {
                     const auto info = deft->solver.solve(task.problem.program, deft->settings, deft->solution);
                     delta = deft->solution.delta;
                     return info.status == solvers::Status::kSolved;
                   },
                   [deft](const Task& task) { return certify(task.problem.program, deft->solution).max_scaled(); }});
  }
#ifdef DEFT_WITH_RIVALS
  if (!start.empty()) return all;
  for (auto& made : benchmarks::make_rivals()) {
    const std::shared_ptr<benchmarks::Rival> rival = std::move(made);
    const bool keeps = rival->name().find("cold") == std::string::npos;
    all.push_back({rival->name(), keeps, rival->takes_cones(), [] {},
                   [rival](const Task& task, Eigen::VectorXd& delta) {
                     delta.resize(task.dense.n);
                     return rival->solve(task.dense, delta.data());
                   },
                   nullptr});
  }
#endif
  return all;
}

/// The whole sequence once. The first pass, which warms the caches, checks the answers instead of taking times.
void pass(const std::vector<Task>& sequence, const Contestant& who, bool checks, Row& row) {
  Eigen::VectorXd delta;
  who.begin();
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Stopwatch watch;
    const bool solved = who.solve(sequence[i], delta);
    const double time = watch.microseconds();
    if (!checks) {
      if (!who.keeps || i > 0) row.times.push_back(time);
      continue;
    }
    row.failed += !solved;
    if (who.certificate) row.certificate = std::max(row.certificate, who.certificate(sequence[i]));
    if (solved)
      row.energy_error =
          std::max(row.energy_error, benchmarks::energy_error(sequence[i].problem, delta, sequence[i].E0));
  }
}

std::vector<Task> read_tasks(const std::string& name) {
  std::vector<Task> tasks;
  solvers::contact::ContactSolver solver;
  solvers::contact::ContactSolution solution;
  for (RealProblem& problem : benchmarks::read_sequence(DEFT_SOURCE_DIR "/benchmarks/data/problems", name)) {
    solver.solve(problem.program, {}, solution);
    const double E0 = certify(problem.program, solution).E0_J;
    DenseProgram dense = benchmarks::dense_program(problem.program);
    tasks.push_back({std::move(problem), std::move(dense), E0});
  }
  return tasks;
}

/// Passes alternate between the contestants, so that what the machine does meanwhile meets all of them.
std::vector<Row> measure(const std::string& name, const std::string& start, int repeats) {
  const std::vector<Task> sequence = read_tasks(name);
  const bool has_cones = !sequence.front().dense.cones.empty();
  std::vector<Contestant> running = contestants(start);
  std::erase_if(running, [&](const Contestant& who) { return has_cones && !who.takes_cones; });
  std::vector<Row> rows;
  for (const Contestant& who : running) rows.push_back({.sequence = name, .who = who.name, .times = {}});
  for (int repeat = 0; repeat <= repeats; ++repeat)
    for (std::size_t k = 0; k < running.size(); ++k) pass(sequence, running[k], repeat == 0, rows[k]);
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  int repeats = 20;
  bool json = false;
  std::string only, start;  // a part of the name of the sequences to run; "cold" or "warm": deft alone, from there
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    if (std::strcmp(argv[i], "--repeat") == 0 && has_value) repeats = std::max(1, std::stoi(argv[++i]));
    if (std::strcmp(argv[i], "--only") == 0 && has_value) only = argv[++i];
    if (std::strcmp(argv[i], "--start") == 0 && has_value) start = argv[++i];
  }
  nlohmann::json found = nlohmann::json::array();
  if (!json)
    fmt::print("kernels of deft: {}; {} repeats of 40 steps\n{:24} {:24} {:>6} {:>12} {:>12} {:>9} {:>9}\n",
               solvers::kernels::active_isa(), repeats, "sequence", "solver", "failed", "certificate", "energy error",
               "p50 µs", "p95 µs");
  int failed = 0;
  for (const char* name : kSequences) {
    if (std::string(name).find(only) == std::string::npos) continue;
    for (const Row& row : measure(name, start, repeats)) {
      const double p50 = percentile(row.times, 0.5), p95 = percentile(row.times, 0.95);
      const bool ours = row.certificate >= 0;
      failed += ours ? row.failed : 0;
      found.push_back({{"sequence", row.sequence},
                       {"who", row.who},
                       {"failed", row.failed},
                       {"energy_error", row.energy_error},
                       {"p50_us", p50},
                       {"p95_us", p95}});
      if (!json)
        fmt::print("{:24} {:24} {:6} {:>12} {:12.1e} {:9.2f} {:9.2f}\n", row.sequence, row.who, row.failed,
                   ours ? fmt::format("{:.1e}", row.certificate) : "", row.energy_error, p50, p95);
    }
  }
  if (json) fmt::print("{}\n", found.dump());
  return failed == 0 ? 0 : 1;
}
