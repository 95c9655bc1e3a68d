// Control problems that several solvers get as files, and the certificate of their answers; for ./run bench
// contact-mpc.
//   control_problems write FOLDER [--horizons 5,10,20] [--count 20] [--surfaces 3] [--seed 1]
//     a disc among flat surfaces, as FOLDER/nNN_sS_KK.json: the three starts of the published note (as far as they lie
//     between the surfaces), then starts at random that touch a surface within 0.5 s if they coast. Coasting is a
//     trajectory from each of them. Prints a JSON object for each.
//   control_problems random FOLDER --seed S
//     the problem of that seed of `robustness --lcs`, as FOLDER/random_S.json
//   control_problems certify PROBLEM.json ANSWER.json
//     ANSWER: {"x": [[…] …], "u": [[…] …], "gamma": [[…] …]}, a list per step; prints residuals and the cost as JSON.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "deft/dynamics/complementarity/surface_contact_lcs.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/math/random.hpp"
#include "deft/solvers/lcs/lcs_program.hpp"
#include "robustness.hpp"
#include "support/lcs_problems.hpp"

namespace {

using namespace deft;
using dynamics::FlatSurface;
using Eigen::Vector2d;
using Eigen::Vector4d;

constexpr double kRadius = 0.6, kStep = 0.1, kFriction = 0.8, kSpeed = 1, kReach = 5;
constexpr int kTouchWithin = 5;  // steps
const std::vector<Vector4d> kNote = {{-2, -4, 0, 0}, {-1, -4.35, 0.6, -0.5}, {-3.45, -4.3, -0.3, -0.4}};

struct Options {
  std::vector<int> horizons = {5, 10, 20};
  int count = 20, surfaces = 3;
  std::uint64_t seed = 1;
};

/// The first `count` of: the note's bevel y = x, floor y = −5 and wall x = 5; a ceiling y = −3.2 and a wall x = −4.2
/// that make it narrow. One surface: the floor.
std::vector<FlatSurface> surfaces(int count) {
  const double r = std::sqrt(0.5);
  const FlatSurface bevel{{r, -r}, -kRadius, kFriction}, floor{{0, 1}, 5 - kRadius, kFriction},
      wall{{-1, 0}, 5 - kRadius, kFriction};
  const FlatSurface ceiling{{0, -1}, -3.2 - kRadius, kFriction}, left{{1, 0}, 4.2 - kRadius, kFriction};
  switch (count) {
    case 1:
      return {floor};
    case 2:
      return {bevel, floor};
    case 3:
      return {bevel, floor, wall};
    case 4:
      return {bevel, floor, wall, ceiling};
    case 5:
      return {bevel, floor, wall, ceiling, left};
    default:
      throw std::invalid_argument(fmt::format("--surfaces is {}, must be 1 … 5", count));
  }
}

double gap(const FlatSurface& surface, const Vector4d& x) { return surface.normal.dot(x.head<2>()) + surface.offset; }

bool between(const std::vector<FlatSurface>& enclosure, const Vector4d& x) {
  bool inside = x.head<2>().cwiseAbs().maxCoeff() <= kReach;
  for (const FlatSurface& surface : enclosure) inside = inside && gap(surface, x) >= 0;
  return inside;
}

bool touches(const std::vector<FlatSurface>& enclosure, Vector4d x) {
  x.head<2>() += kTouchWithin * kStep * x.tail<2>();
  return !between(enclosure, x);
}

std::vector<Vector4d> starts(const std::vector<FlatSurface>& enclosure, const Options& options) {
  std::vector<Vector4d> found;
  for (const Vector4d& x : kNote) {
    if (between(enclosure, x)) found.push_back(x);
  }
  for (std::uint64_t item = 0; static_cast<int>(found.size()) < options.count; ++item) {
    Vector4d x;
    for (std::uint32_t i = 0; i < 4; ++i)
      x[i] = (i < 2 ? kReach : kSpeed) * (2 * random_uniform(options.seed, item, i) - 1);
    if (between(enclosure, x) && touches(enclosure, x)) found.push_back(x);
  }
  found.resize(options.count);
  return found;
}

solvers::lcs::LcsMpcProgram program(const std::vector<FlatSurface>& enclosure, const Vector4d& start, int N) {
  dynamics::SurfaceContactModel model;
  model.h = kStep;
  model.surfaces = enclosure;
  solvers::lcs::LcsMpcProgram p;
  p.system = dynamics::surface_contact_lcs(model);
  p.N = N;
  p.Q = p.Qf = Eigen::Matrix4d::Identity();
  p.R = 10 * Eigen::Matrix2d::Identity();
  p.x0 = start;
  p.x_goal = Vector4d(3, -5, 0, 0).replicate(1, N + 1);
  p.x_max = Vector4d(kReach, kReach, kSpeed, kSpeed);
  p.x_min = -p.x_max;
  p.u_max = Eigen::MatrixXd::Ones(2, N);
  p.u_min = -p.u_max;
  return p;
}

void write(const std::string& folder, const Options& options) {
  const std::vector<FlatSurface> enclosure = surfaces(options.surfaces);
  const std::vector<Vector4d> all = starts(enclosure, options);
  for (const int N : options.horizons) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string name = fmt::format("n{:02}_s{}_{:02}", N, options.surfaces, k);
      io::write_lcs_problem(fmt::format("{}/{}.json", folder, name), name, "a disc among flat surfaces",
                            program(enclosure, all[k], N));
      const nlohmann::json row{{"name", name},
                               {"N", N},
                               {"surfaces", options.surfaces},
                               {"x0", std::vector<double>(all[k].begin(), all[k].end())}};
      fmt::print("{}\n", row.dump());
    }
  }
}

void write_random(const std::string& folder, std::uint64_t seed) {
  const std::string name = fmt::format("random_{}", seed);
  io::write_lcs_problem(fmt::format("{}/{}.json", folder, name), name, "random_lcs_program",
                        deft::testing::random_lcs_program(seed, bench::kControlPairs));
}

nlohmann::json read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return nlohmann::json::parse(file);
}

Eigen::MatrixXd columns(const nlohmann::json& lists) {
  Eigen::MatrixXd out(static_cast<Eigen::Index>(lists.empty() ? 0 : lists[0].size()),
                      static_cast<Eigen::Index>(lists.size()));
  for (Eigen::Index k = 0; k < out.cols(); ++k) {
    for (Eigen::Index i = 0; i < out.rows(); ++i) out(i, k) = lists.at(k).at(i).get<double>();
  }
  return out;
}

void certify(const std::string& problem, const std::string& answer) {
  const io::ProblemFile file = io::read_problem(problem);
  const nlohmann::json said = read(answer);
  const solvers::lcs::LcsMpcProgram& program = std::get<io::LcsProblemFile>(file).program;
  const solvers::lcs::LcsCertificate c = solvers::lcs::certify(
      program, {.x = columns(said.at("x")), .u = columns(said.at("u")), .gamma = columns(said.at("gamma"))});
  fmt::print(
      "{}\n",
      nlohmann::json{
          {"dynamics", c.dynamics}, {"primal", c.primal}, {"complementarity", c.complementarity}, {"cost", c.cost}}
          .dump());
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string key = argv[i];
    if (key == "--count") options.count = std::stoi(argv[i + 1]);
    if (key == "--surfaces") options.surfaces = std::stoi(argv[i + 1]);
    if (key == "--seed") options.seed = std::stoull(argv[i + 1]);
    if (key != "--horizons") continue;
    options.horizons.clear();
    std::stringstream list(argv[i + 1]);
    for (std::string word; std::getline(list, word, ',');) options.horizons.push_back(std::stoi(word));
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "write") {
      write(argv[2], parse(argc, argv));
    } else if (what == "random") {
      write_random(argv[2], parse(argc, argv).seed);
    } else if (what == "certify" && argc == 4) {
      certify(argv[2], argv[3]);
    } else {
      fmt::print(stderr,
                 "usage: control_problems write FOLDER [--horizons N,…] [--count N] [--surfaces N] [--seed S] |\n"
                 "                        random FOLDER --seed S | certify PROBLEM ANSWER\n");
      return 2;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "control_problems: {}\n", error.what());
    return 1;
  }
  return 0;
}
