#include "support/problem_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

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

solvers::ContactProgram read_program(const json& file) {
  solvers::ContactProgram program;
  program.nv = file.at("nv");
  for (const json& block : file.at("Q_blocks")) {
    const int size = block.at("size");
    const std::vector<double> data = numbers(block.at("data"));
    auto Q = program.Q.append(block.at("start"), size);
    for (int r = 0; r < size; ++r) {
      for (int c = 0; c < size; ++c) Q(r, c) = data[r * size + c];
    }
  }
  const std::vector<double> b = numbers(file.at("b"));
  program.b = Eigen::Map<const Eigen::VectorXd>(b.data(), b.size());
  program.model = file.at("model") == "cone" ? solvers::FrictionModel::kCone : solvers::FrictionModel::kPyramid;
  if (file.contains("rays")) program.rays = file.at("rays");
  std::map<std::string, int> seen;
  for (const json& contact : file.at("contacts")) {
    std::vector<json> rows{contact.at("normal")};
    for (const json& tangent : contact.at("tangents")) rows.push_back(tangent);
    std::vector<int> cols;
    for (const json& row : rows) {
      for (int c : row.at("cols")) cols.push_back(c);
    }
    std::sort(cols.begin(), cols.end());
    cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
    auto J = program.J.append(static_cast<int>(rows.size()), cols);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::vector<int> row_cols = rows[r].at("cols");
      const std::vector<double> vals = numbers(rows[r].at("vals"));
      for (std::size_t k = 0; k < vals.size(); ++k) {
        J(static_cast<Eigen::Index>(r), std::lower_bound(cols.begin(), cols.end(), row_cols[k]) - cols.begin()) +=
            vals[k];
      }
    }
    solvers::ContactLaw law;
    law.gap = contact.at("gap");
    law.mu = contact.at("mu");
    const std::string label = contact.value("label", "");
    law.id = std::hash<std::string>{}(label + "#" + std::to_string(seen[label]++));
    program.contacts.push_back(law);
  }
  return program;
}

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
    const json file = read_gzip(files[i]);
    RealProblem problem;
    problem.name = file.at("name");
    problem.program = read_program(file);
    const std::vector<double> delta = numbers(solutions[i].at("delta"));
    problem.reference = Eigen::Map<const Eigen::VectorXd>(delta.data(), delta.size());
    problems.push_back(std::move(problem));
  }
  return problems;
}

double energy_error(const RealProblem& problem, const Eigen::VectorXd& delta, double E0) {
  const Eigen::VectorXd error = delta - problem.reference;
  double squared = 0;
  for (int k = 0; k < problem.program.Q.num_blocks(); ++k) {
    const auto part = error.segment(problem.program.Q.start(k), problem.program.Q.size(k));
    squared += part.dot(problem.program.Q.block(k) * part);
  }
  return std::sqrt(std::max(0.0, squared) / E0);
}

}  // namespace deft::benchmarks
