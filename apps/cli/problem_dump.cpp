#include "problem_dump.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "deft/core/log.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/math/percentile.hpp"

namespace deft::cli {
namespace {

constexpr double kSlowFactor = 3;
constexpr std::size_t kMinSample = 5;

/// Writes the file of a step's problem, of the kind that its model solves.
class ProblemWriter final : public dynamics::ProblemVisitor {
 public:
  ProblemWriter(const std::string& path, const std::string& name, const std::string& source,
                const io::ContactLabels& labels)
      : path_(path), name_(name), source_(source), labels_(labels) {}
  void contact(const solvers::contact::ContactProgram& program) override {
    io::write_contact_problem(path_, name_, source_, program, labels_);
  }
  void complementarity(const solvers::lcp::ComplementarityProgram& program) override {
    io::write_complementarity_problem(path_, name_, source_, program);
  }
  void patch(const dynamics::PatchProblem& problem) override {
    io::write_patch_problem(path_, name_, source_, problem);
  }

 private:
  const std::string &path_, &name_, &source_;
  const io::ContactLabels& labels_;
};

}  // namespace

void add_dump_options(CLI::App& command, DumpOptions& options) {
  command.add_option("--dump-problems", options.folder, "Write the problems of the steps as files for 'deft solve'")
      ->type_name("DIR");
  const std::map<std::string, DumpIf> conditions{
      {"failed", DumpIf::kFailed}, {"slow", DumpIf::kSlow}, {"all", DumpIf::kAll}};
  command.add_option("--dump-if", options.condition, "Which: failed, slow (three times the median) or all (default)")
      ->type_name("WHICH")
      ->transform(CLI::CheckedTransformer(conditions).description(""));
}

ProblemDump::ProblemDump(const DumpOptions& options, const scene::Scene& scene)
    : folder_(options.folder),
      name_(scene.spec().name.empty() ? "problem" : scene.spec().name),
      condition_(options.condition),
      bodies_(scene.names_bodies()) {
  for (char& c : name_) {
    if (c == '/') c = '_';
  }
  for (const collision::GeometryInfo& geometry : scene.collision_world().geometries())
    geometries_.push_back(geometry.name);
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error)
    throw InputError({folder_, 0, 0}, fmt::format("--dump-problems: cannot make the folder: {}", error.message()));
}

bool ProblemDump::wanted(solvers::Status status, double time_us, std::vector<double>& times_us) const {
  switch (condition_) {
    case DumpIf::kAll:
      return true;
    case DumpIf::kFailed:
      return !solvers::usable(status);
    case DumpIf::kSlow:
      times_us.push_back(time_us);
      return times_us.size() > kMinSample && time_us > kSlowFactor * percentile(times_us, 0.5);
  }
  return false;
}

void ProblemDump::consider(int step, const dynamics::StepResult& result, const dynamics::StepModel& model) {
  if (folder_.empty() || !wanted(result.status, result.solve_us, solve_us_)) return;
  io::ContactLabels labels;
  const auto& contacts = result.problem.contacts;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    labels.bodies.emplace_back(bodies_.at(contacts[i].body_a), bodies_.at(contacts[i].body_b));
    labels.labels.push_back(fmt::format("{}|{}|{:x}", geometries_.at(contacts[i].geometry_a),
                                        geometries_.at(contacts[i].geometry_b), contacts[i].id));
  }
  const std::string name = fmt::format("{}_{:06}", name_, step), source = fmt::format("deft sim, step {}", step);
  const std::string path = (std::filesystem::path(folder_) / (name + ".json.gz")).string();
  ProblemWriter writer(path, name, source, labels);
  model.visit_problem(result, writer);
  log::info(fmt::format("step {} ({}) written to {}", step, solvers::to_string(result.status), path));
  ++written_;
}

void ProblemDump::consider_plan(int step, const solvers::lcs::LcsMpcProgram& program, solvers::Status status,
                                double time_s) {
  if (folder_.empty() || !wanted(status, 1e6 * time_s, plan_us_)) return;
  const std::string name = fmt::format("{}_plan_{:06}", name_, step);
  const std::string path = (std::filesystem::path(folder_) / (name + ".json.gz")).string();
  io::write_lcs_problem(path, name, fmt::format("deft sim, plan of step {}", step), program);
  log::info(fmt::format("plan of step {} ({}) written to {}", step, solvers::to_string(status), path));
  ++written_;
}

}  // namespace deft::cli
