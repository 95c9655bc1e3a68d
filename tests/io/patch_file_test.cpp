// Problem files of kind `ecp`: what is written is read back, and every field means what it says. Wrong input:
// tests/cli/test_patch_problems.py.

#include <Eigen/Core>

#include "problem_file_support.hpp"

namespace deft::io {
namespace patch_file_test {

using dynamics::PatchProblem;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::Vector4d;

/// A tilted plane, a cylinder with everything that a body can have, and a body of two shapes.
json patch_example() {
  return {
      {"format", "deft-problem"},
      {"version", 1},
      {"kind", "ecp"},
      {"name", "wheel"},
      {"h", 0.02},
      {"gravity", {0, 1, -9}},
      {"ellipsoid_axis", {0, 2, 0}},
      {"bodies",
       {{{"shape", {{"half_space", {{"normal", {0, 0, 2}}, {"offset", 1}}}}}, {"mass", nullptr}},
        {{"shape", {{"cylinder", {{"radius", 0.5}, {"length", 2}}}}},
         {"mass", 3},
         {"inertia", {2, 3, 4, 0.1, 0.2, 0.3}},
         {"q", {0.6, 0.8, 0, 0, 1, 2, 3}},
         {"nu", {1, 2, 3, 4, 5, 6}},
         {"p_app", {7, 8, 9, 10, 11, 12}}},
        {{"shape",
          {{{"ellipsoid", {{"radii", {1, 2, 3}}}}, {"pose", {0, 1, 0, 0, 0, 0, 1}}},
           {{"polytope", {{"vertices", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}}}}},
         {"mass", 1},
         {"inertia", {1, 1, 1}},
         {"q", {1, 0, 0, 0, 0, 0, 0}},
         {"nu", {0, 0, 0, 0, 0, 0}}}}},
      {"pairs",
       {{{"a", 1}, {"b", 0}, {"mu", 0.3}, {"ellipsoid", {1, 2, 3}}}, {{"a", 0}, {"b", 2}, {"shape_b", 1}, {"mu", 0}}}},
      {"warm", {{"z", {1, 2}}}},
      {"something_else", 1}};
}

class PatchFiles : public ProblemFiles {
 protected:
  PatchProblemFile read_patch(const json& document) const {
    return std::get<PatchProblemFile>(read_problem(save(document.dump())));
  }
};

void expect_same(const PatchProblem& a, const PatchProblem& b) {
  EXPECT_EQ(a.h, b.h);
  EXPECT_EQ(a.gravity_W, b.gravity_W);
  EXPECT_EQ(a.ellipsoid_axis, b.ellipsoid_axis);
  ASSERT_EQ(a.bodies.size(), b.bodies.size());
  for (std::size_t i = 0; i < a.bodies.size(); ++i) {
    const auto &x = a.bodies[i], &y = b.bodies[i];
    EXPECT_EQ(x.mass, y.mass);
    EXPECT_EQ(x.I_BCm_B, y.I_BCm_B);
    EXPECT_LT((x.start.quat_wxyz - y.start.quat_wxyz).norm(), 1e-15);
    EXPECT_EQ(x.start.p_WC, y.start.p_WC);
    EXPECT_EQ(x.start.omega_W, y.start.omega_W);
    EXPECT_EQ(x.start.v_WC, y.start.v_WC);
    EXPECT_EQ(x.impulse.angular_W, y.impulse.angular_W);
    EXPECT_EQ(x.impulse.linear_W, y.impulse.linear_W);
    ASSERT_EQ(x.shapes.size(), y.shapes.size());
    for (std::size_t k = 0; k < x.shapes.size(); ++k) {
      EXPECT_EQ(x.shapes[k].vertices, y.shapes[k].vertices);
      EXPECT_EQ(x.shapes[k].shape.index(), y.shapes[k].shape.index());
      EXPECT_LT((x.shapes[k].X_CG.matrix() - y.shapes[k].X_CG.matrix()).norm(), 1e-15);
    }
  }
  ASSERT_EQ(a.pairs.size(), b.pairs.size());
  for (std::size_t i = 0; i < a.pairs.size(); ++i) {
    const auto &x = a.pairs[i], &y = b.pairs[i];
    EXPECT_EQ(std::tie(x.a, x.b, x.shape_a, x.shape_b, x.mu, x.ellipsoid),
              std::tie(y.a, y.b, y.shape_a, y.shape_b, y.mu, y.ellipsoid));
  }
}

TEST_F(PatchFiles, EveryFieldMeansWhatItSays) {
  const PatchProblemFile file = read_patch(patch_example());
  const PatchProblem& p = file.problem;
  EXPECT_EQ(file.name, "wheel");
  EXPECT_TRUE(file.notes.empty());
  EXPECT_EQ(p.h, 0.02);
  EXPECT_EQ(p.gravity_W, Vector3d(0, 1, -9));
  EXPECT_EQ(p.ellipsoid_axis, Vector3d(0, 1, 0));
  ASSERT_EQ(p.bodies.size(), 3u);
  const auto& plane = std::get<multibody::HalfSpaceSpec>(p.bodies[0].shapes[0].shape);
  EXPECT_EQ(p.bodies[0].mass, 0);
  EXPECT_EQ(plane.normal, Vector3d(0, 0, 1));
  EXPECT_EQ(plane.offset, 0.5);
  const auto& wheel = p.bodies[1];
  EXPECT_EQ(wheel.mass, 3);
  EXPECT_EQ(wheel.I_BCm_B, (Matrix3d() << 2, 0.1, 0.2, 0.1, 3, 0.3, 0.2, 0.3, 4).finished());
  EXPECT_LT((wheel.start.quat_wxyz - Vector4d(0.6, 0.8, 0, 0)).norm(), 1e-15);
  EXPECT_EQ(wheel.start.p_WC, Vector3d(1, 2, 3));
  EXPECT_EQ(wheel.start.omega_W, Vector3d(1, 2, 3));
  EXPECT_EQ(wheel.start.v_WC, Vector3d(4, 5, 6));
  EXPECT_EQ(wheel.impulse.angular_W, Vector3d(7, 8, 9));
  EXPECT_EQ(wheel.impulse.linear_W, Vector3d(10, 11, 12));
  ASSERT_EQ(p.bodies[2].shapes.size(), 2u);
  EXPECT_LT((p.bodies[2].shapes[0].X_CG * Vector3d(1, 2, 3) - Vector3d(1, -2, -2)).norm(), 1e-15);
  EXPECT_EQ(p.bodies[2].shapes[1].vertices.size(), 4u);
  ASSERT_EQ(p.pairs.size(), 2u);
  EXPECT_EQ(p.pairs[0].ellipsoid, (std::array<double, 3>{1, 2, 3}));
  EXPECT_EQ(p.pairs[1].shape_b, 1);
  EXPECT_EQ(p.pairs[1].ellipsoid, (std::array<double, 3>{1, 1, 1}));
}

TEST_F(PatchFiles, WhatIsWrittenIsReadBack) {
  json document = patch_example();
  document["bodies"][1]["nu"] = {1.0 / 3, std::sqrt(2.0), 1e-300, -0.1, 4e17, 5e-324};
  const PatchProblem problem = read_patch(document).problem;
  for (const char* name : {"q.json", "q.json.gz"}) {
    write_patch_problem(path(name), "again", "test", problem);
    const auto back = std::get<PatchProblemFile>(read_problem(path(name)));
    EXPECT_EQ(back.name, "again");
    EXPECT_EQ(back.source, "test");
    expect_same(problem, back.problem);
  }
  PatchProblem wrong = problem;
  wrong.bodies[1].start.p_WC.x() = kInf;
  EXPECT_THROW(write_patch_problem(path("w.json"), "w", "", wrong), std::invalid_argument);
}

TEST_F(PatchFiles, MissingInertiasAreThoseOfSolids) {
  json document = patch_example();
  document["bodies"][1].erase("inertia");
  const Matrix3d I = read_patch(document).problem.bodies[1].I_BCm_B;
  EXPECT_LT((I - Vector3d(3 * (3 * 0.25 + 4) / 12, 3 * (3 * 0.25 + 4) / 12, 3 * 0.125 * 1).asDiagonal().toDenseMatrix())
                .norm(),
            1e-14);
  document["bodies"][1]["inertia"] = {{1, 2e-8, 0}, {0, 1, 0}, {0, 0, 1}};
  const PatchProblemFile averaged = read_patch(document);
  ASSERT_EQ(averaged.notes.size(), 1u);
  EXPECT_EQ(averaged.notes[0].rfind("bodies[1].inertia was symmetrised", 0), 0u);
  EXPECT_EQ(averaged.problem.bodies[1].I_BCm_B(1, 0), 1e-8);
  document["bodies"][1]["inertia"] = {1, 1, 2};  // flat: the triangle inequality holds with equality
  EXPECT_NO_THROW(read_patch(document));
}

}  // namespace patch_file_test
}  // namespace deft::io
