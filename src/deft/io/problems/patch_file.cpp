#include "deft/io/problems/patch_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>

#include "deft/collision/shapes/solid.hpp"
#include "deft/core/index.hpp"
#include "deft/core/infinity.hpp"
#include "deft/io/problems/problem_file.hpp"
#include "deft/io/problems/problem_json.hpp"
#include "deft/io/text/json_matrix.hpp"
#include "deft/io/text/json_text.hpp"
#include "deft/math/dense.hpp"

namespace deft::io {
namespace {

using dynamics::PatchProblem;
using dynamics::PatchProblemBody;
using dynamics::PatchProblemPair;
using dynamics::PatchShape;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Json = nlohmann::ordered_json;

constexpr int kMaxBodies = 4096;
constexpr double kDefinite = 1e-15;  // the smallest principal moment over the largest: less is not positive definite
constexpr double kTriangle = 1e-9;   // relative: rounding of the principal moments of a flat body
constexpr double kCentred = 1e-9;    // relative: how far a solid's centroid may be from the body's origin

/// [angular; linear].
std::pair<Vector3d, Vector3d> six(const JsonField& field) {
  const std::vector<double> v = field.numbers(6, "angular, then linear");
  return {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}};
}

/// The matrix of three, six or nine numbers.
Matrix3d read_inertia_matrix(const JsonField& field) {
  Matrix3d I = Matrix3d::Zero();
  if (!field.is_list()) {
    const SparseMatrix given = read_matrix(field, 3, 3);
    if (given.rows != 3) field.at("rows").integer(3, 3);
    return dense(given);
  }
  if (field.list_size() == 3 && field.element(0).is_list()) {
    for (std::size_t i = 0; i < 3; ++i) I.row(static_cast<Eigen::Index>(i)) = read_vector(field.element(i), 3, "a row");
    return I;
  }
  const std::vector<double> v = field.numbers();
  if (v.size() != 3 && v.size() != 6)
    field.fail(
        fmt::format("has {} numbers, needs 3 (ixx iyy izz), 6 (ixx iyy izz ixy ixz iyz), three rows, or a matrix with "
                    "rows, cols and data",
                    v.size()));
  I.diagonal() << v[0], v[1], v[2];
  if (v.size() == 6) {
    I(0, 1) = I(1, 0) = v[3];
    I(0, 2) = I(2, 0) = v[4];
    I(1, 2) = I(2, 1) = v[5];
  }
  return I;
}

/// Symmetric, positive definite, and the inertia of a mass distribution.
Matrix3d read_inertia(const JsonField& field, const std::string& name, std::vector<std::string>& notes) {
  const Matrix3d I = read_inertia_matrix(field);
  const double scale = I.cwiseAbs().maxCoeff();
  if (!(scale > 0)) field.fail("must be positive definite, found zero");
  const Matrix3d symmetric = symmetrised(I, field, name, notes);
  const Vector3d moments = scale * symmetric_eigenvalues(Matrix3d(symmetric / scale));
  if (!(moments(0) > kDefinite * moments(2)))
    field.fail(fmt::format("must be positive definite; its principal moments are {:.6g}, {:.6g}, {:.6g}", moments(0),
                           moments(1), moments(2)));
  if (moments(0) + moments(1) < (1 - kTriangle) * moments(2)) {
    field.fail(
        fmt::format("is not the inertia of any mass: the principal moments {:.6g}, {:.6g}, {:.6g} violate the triangle "
                    "inequality (none may exceed the sum of the others)",
                    moments(0), moments(1), moments(2)));
  }
  return symmetric;
}

/// That of the uniform solid which fills the shapes.
Matrix3d solid_inertia_of(const JsonField& body, const std::vector<PatchShape>& shapes, double mass) {
  std::vector<multibody::GeometrySpec> solids;
  double size = 0;
  for (const PatchShape& shape : shapes) {
    if (!shape.vertices.empty()) solids.clear();
    if (!shape.vertices.empty()) break;
    solids.push_back({.name = {},
                      .X_LG = shape.X_CG,
                      .shape = shape.shape,
                      .mu_static = {},
                      .mu_dynamic = {},
                      .mu = {},
                      .rgba = {},
                      .where = {}});
  }
  const auto solid = solids.empty() ? std::nullopt : collision::solid_inertia(solids, mass);
  if (!solid) body.at("inertia");  // says that it is missing
  const Matrix3d I = solid->I_Com_L;
  size = std::sqrt(std::max(0.0, I.trace()) / mass);
  if (!(size > 0) || !I.allFinite()) body.at("shape").fail("has no volume");
  if (solid->p_LCom.norm() > kCentred * size) {
    body.at("shape").fail(
        fmt::format("has its centroid at [{:.6g}, {:.6g}, {:.6g}], which is not the centre of mass, the body's origin: "
                    "give 'inertia'",
                    solid->p_LCom.x(), solid->p_LCom.y(), solid->p_LCom.z()));
  }
  return I;
}

/// Of a fixed body: the velocity or impulse, if given, is zero.
void check_at_rest(const JsonField& body, const char* key) {
  const auto field = body.find(key);
  if (!field) return;
  const auto [angular, linear] = six(*field);
  if (!angular.isZero(0) || !linear.isZero(0)) field->fail("must be zero: the body has no 'mass', so it is fixed");
}

PatchProblemBody read_body(const JsonField& field, const std::string& name, std::vector<std::string>& notes) {
  PatchProblemBody out;
  out.shapes = read_patch_shapes(field.at("shape"));
  if (const auto mass = field.find("mass")) {
    out.mass = mass->number();
    if (!(out.mass > 0))
      mass->fail(fmt::format("must be positive (null, or left out: the body is fixed), found {}", out.mass));
    for (const PatchShape& shape : out.shapes) {
      if (std::holds_alternative<multibody::HalfSpaceSpec>(shape.shape) && shape.vertices.empty())
        field.at("shape").fail("a half-space cannot move; leave out 'mass'");
    }
    const auto inertia = field.find("inertia");
    out.I_BCm_B =
        inertia ? read_inertia(*inertia, name + ".inertia", notes) : solid_inertia_of(field, out.shapes, out.mass);
    out.start = read_patch_pose(field.at("q"));
    std::tie(out.start.omega_W, out.start.v_WC) = six(field.at("nu"));
    if (const auto impulse = field.find("p_app")) std::tie(out.impulse.angular_W, out.impulse.linear_W) = six(*impulse);
  } else {
    if (const auto q = field.find("q")) out.start = read_patch_pose(*q);
    check_at_rest(field, "nu");
    check_at_rest(field, "p_app");
  }
  return out;
}

int read_shape_index(const JsonField& field, const char* key, const JsonField& body_field,
                     const PatchProblemBody& body) {
  if (body.shapes.empty()) body_field.fail("is a body without a shape");
  const auto index = field.find(key);
  return index ? index->integer(0, static_cast<int>(body.shapes.size()) - 1) : 0;
}

PatchProblemPair read_pair(const JsonField& field, const PatchProblem& problem) {
  const int last = static_cast<int>(problem.bodies.size()) - 1;
  PatchProblemPair out;
  const JsonField a = field.at("a"), b = field.at("b");
  out.a = a.integer(0, last);
  out.b = b.integer(0, last);
  if (out.a == out.b) b.fail(fmt::format("is {}, the same body as 'a'", out.b));
  const PatchProblemBody &A = problem.bodies[out.a], &B = problem.bodies[out.b];
  if (!(A.mass > 0) && !(B.mass > 0))
    field.fail(fmt::format("bodies {} and {} are both fixed (they have no 'mass'); one must move", out.a, out.b));
  out.shape_a = read_shape_index(field, "shape_a", a, A);
  out.shape_b = read_shape_index(field, "shape_b", b, B);
  const JsonField mu = field.at("mu");
  out.mu = mu.number();
  if (out.mu < 0) mu.fail(fmt::format("must not be negative, found {}", out.mu));
  if (const auto ellipsoid = field.find("ellipsoid")) {
    const std::vector<double> e = ellipsoid->numbers(3, "e_t, e_o, e_r");
    for (std::size_t k = 0; k < 3; ++k) {
      if (!(e[k] > 0)) ellipsoid->element(k).fail(fmt::format("must be positive, found {}", e[k]));
      out.ellipsoid[k] = e[k];
    }
  }
  return out;
}

/// One list of all numbers.
Json joined(std::initializer_list<Eigen::Ref<const Eigen::VectorXd>> parts) {
  Json out = Json::array();
  for (const auto& part : parts)
    for (const double x : part) out.push_back(json_number(x + 0.0));  // no −0
  return out;
}

/// Refuses what a problem file cannot hold.
void require_finite(const PatchProblem& problem) {
  bool finite = std::isfinite(problem.h) && problem.gravity_W.allFinite() && problem.ellipsoid_axis.allFinite();
  for (const PatchProblemBody& body : problem.bodies) {
    finite = finite && std::isfinite(body.mass) && body.I_BCm_B.allFinite() && body.start.quat_wxyz.allFinite() &&
             body.start.p_WC.allFinite() && body.start.omega_W.allFinite() && body.start.v_WC.allFinite() &&
             body.impulse.angular_W.allFinite() && body.impulse.linear_W.allFinite();
  }
  for (const PatchProblemPair& pair : problem.pairs) finite = finite && std::isfinite(pair.mu);
  if (!finite)
    throw std::invalid_argument("write_patch_problem: a number is not finite, which a problem file cannot hold");
}

constexpr std::array<const char*, 4> kContactKinds{"none", "point", "line", "surface"};
constexpr std::array<const char*, 3> kContactStates{"open", "stick", "slip"};

/// One contact point of the result; README.md.
Json contact_json(const dynamics::PatchProblemContact& found) {
  const dynamics::PatchContact& c = found.contact;
  const Vector3d force = c.p_n * c.n_W + c.p_f(0) * c.t_W + c.p_f(1) * c.o_W, torque = c.p_f(2) * c.n_W;
  Json out{{"point", joined({c.point_W})},
           {"normal", joined({c.n_W})},
           {"tangents", Json::array({joined({c.t_W}), joined({c.o_W})})}};
  out["wrench"] = joined({Eigen::Vector4d(c.p_n, c.p_f(0), c.p_f(1), c.p_f(2))});
  out["impulse_W"] = joined({force});
  out["angular_impulse_W"] = joined({torque});
  out["kind"] = kContactKinds[to_size(found.kind)];
  out["state"] = kContactStates[to_size(found.state)];
  out["gap"] = json_number(c.gap);
  out["slip"] = joined({c.slip});
  return out;
}

}  // namespace

PatchProblem read_patch_problem(const JsonField& root, std::vector<std::string>& notes) {
  PatchProblem out;
  const JsonField h = root.at("h");
  out.h = h.number();
  if (!(out.h > 0)) h.fail(fmt::format("must be positive, found {}", out.h));
  out.gravity_W = read_vector(root.at("gravity"), 3, kCoordinates);
  if (const auto axis = root.find("ellipsoid_axis")) {
    out.ellipsoid_axis = read_vector(*axis, 3, kCoordinates);
    const double length = out.ellipsoid_axis.stableNorm();
    if (!(length > 0)) axis->fail("must not be zero");
    out.ellipsoid_axis /= length;
  }
  const JsonField bodies = root.at("bodies");
  if (bodies.list_size() > kMaxBodies)
    bodies.fail(fmt::format("has {} bodies, at most {} are possible", bodies.list_size(), kMaxBodies));
  for (std::size_t i = 0; i < bodies.list_size(); ++i)
    out.bodies.push_back(read_body(bodies.element(i), fmt::format("bodies[{}]", i), notes));
  const JsonField pairs = root.at("pairs");
  std::set<std::array<int, 4>> seen;
  for (std::size_t i = 0; i < pairs.list_size(); ++i) {
    const PatchProblemPair pair = read_pair(pairs.element(i), out);
    std::array<int, 4> key{pair.a, pair.shape_a, pair.b, pair.shape_b};
    if (pair.a > pair.b) key = {pair.b, pair.shape_b, pair.a, pair.shape_a};
    if (!seen.insert(key).second)
      pairs.element(i).fail(fmt::format(
          "bodies {} and {} are in an earlier pair already (a pair has one contact point)", pair.a, pair.b));
    out.pairs.push_back(pair);
  }
  return out;
}

void write_patch_problem(const std::string& path, const std::string& name, const std::string& source,
                         const PatchProblem& problem) {
  require_finite(problem);
  Json file = problem_head("ecp", name, source);
  file["h"] = problem.h;
  file["gravity"] = joined({problem.gravity_W});
  if (problem.ellipsoid_axis != Vector3d::UnitX()) file["ellipsoid_axis"] = joined({problem.ellipsoid_axis});
  file["bodies"] = Json::array();
  for (const PatchProblemBody& body : problem.bodies) {
    Json one{{"shape", patch_shapes_json(body.shapes)}};
    const bool moves = body.mass > 0;
    one["mass"] = moves ? Json(body.mass) : Json(nullptr);
    const Matrix3d& I = body.I_BCm_B;
    one["inertia"] = moves ? Json{I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)} : Json(nullptr);
    one["q"] = joined({body.start.quat_wxyz, body.start.p_WC});
    one["nu"] = joined({body.start.omega_W, body.start.v_WC});
    one["p_app"] = joined({body.impulse.angular_W, body.impulse.linear_W});
    file["bodies"].push_back(std::move(one));
  }
  file["pairs"] = Json::array();
  for (const PatchProblemPair& pair : problem.pairs) {
    Json one{{"a", pair.a}, {"b", pair.b}};
    if (pair.shape_a != 0) one["shape_a"] = pair.shape_a;
    if (pair.shape_b != 0) one["shape_b"] = pair.shape_b;
    one["mu"] = pair.mu;
    one["ellipsoid"] = pair.ellipsoid;
    file["pairs"].push_back(std::move(one));
  }
  write_text(path, to_text(file));
}

std::string_view patch_sentence(solvers::Status status) {
  if (status == solvers::Status::kSolved)
    return "A step that satisfies all equations of the model was found; others may exist.";
  return solvers::sentence(status);
}

std::string patch_result_json(const PatchProblemFile& file, const dynamics::PatchAnswer& answer, double time_s) {
  const bool usable = solvers::usable(answer.status);
  Json out = result_head(file.name, "ecp", answer.status, patch_sentence(answer.status), time_s, answer.iterations);
  const auto residuals = [&](double stationarity, double primal, double complementarity) {
    return usable ? residuals_json(stationarity, primal, complementarity)
                  : residuals_json(kInfinity, kInfinity, kInfinity);
  };
  const solvers::contact::Certificate& c = answer.certificate;
  out["residuals"] = {{"scaled", residuals(c.stationarity, c.primal, c.complementarity)},
                      {"absolute", residuals(answer.balance_Ns, answer.penetration_m, answer.complementarity_Js)}};
  Json solution{{"nu", nullptr}, {"q", nullptr}, {"pairs", nullptr}};
  if (usable) {
    for (const char* key : {"nu", "q", "pairs"}) solution[key] = Json::array();
    for (const dynamics::PatchState& s : answer.end) {
      solution["nu"].push_back(joined({s.omega_W, s.v_WC}));
      solution["q"].push_back(joined({s.quat_wxyz, s.p_WC}));
    }
    for (const dynamics::PatchProblemContact& contact : answer.contacts)
      solution["pairs"].push_back(contact_json(contact));
  }
  out["solution"] = std::move(solution);
  out["solver"] = std::string(answer.method);
  out["notes"] = file.notes;
  return to_text(out);
}

}  // namespace deft::io
