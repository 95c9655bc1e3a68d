#include "support/problem_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "deft/io/problems/problem_file.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::benchmarks {
namespace {

using nlohmann::json;

json read_gzip(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  std::string text(1 << 16, '\0'), all;
  for (int n; (n = gzread(file.get(), text.data(), static_cast<unsigned>(text.size()))) > 0;) all.append(text, 0, n);
  return json::parse(all);
}

std::vector<double> numbers(const json& list) { return list.get<std::vector<double>>(); }

}  // namespace

std::vector<RealProblem> read_sequence(const std::string& data, const std::string& folder) {
  const std::filesystem::path root(data);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(root / folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const json solutions = read_gzip(root / ("solutions_" + folder + ".json.gz")).at("solutions");
  if (solutions.size() != files.size()) throw std::runtime_error("solutions_" + folder + " does not match its folder");
  std::vector<RealProblem> problems;
  for (std::size_t i = 0; i < files.size(); ++i) {
    io::ContactProblemFile file = io::read_contact_problem(files[i].string());
    RealProblem problem{.name = std::move(file.name), .program = std::move(file.program), .reference = {}};
    const std::vector<double> delta = numbers(solutions[i].at("delta"));
    problem.reference = Eigen::Map<const Eigen::VectorXd>(delta.data(), delta.size());
    problems.push_back(std::move(problem));
  }
  return problems;
}

double energy_error(const RealProblem& problem, const Eigen::VectorXd& delta, double E0) {
  const Eigen::VectorXd error = delta - problem.reference;
  return std::sqrt(std::max(0.0, quadratic_form(problem.program.Q, error)) / E0);
}

}  // namespace deft::benchmarks
