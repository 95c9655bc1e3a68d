#include "deft/control/scene_lcs.hpp"

#include <fmt/core.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <stdexcept>

#include "deft/contact/assemble.hpp"
#include "deft/dynamics/complementarity/coulomb_rows.hpp"
#include "deft/dynamics/complementarity/stewart_trinkle.hpp"
#include "deft/dynamics/contact_program.hpp"
#include "deft/dynamics/derivatives/energy_derivatives.hpp"
#include "deft/dynamics/energy_step.hpp"
#include "deft/dynamics/energy_terms.hpp"

namespace deft::control {
namespace {

using dynamics::HorizonPair;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kNoFriction = 1e-12;  // as in coulomb_rows: below it a contact is one pair
constexpr double kTouch = 1e-9;        // share and metres added to the way in which a pair can close: rounding

const scene::Scene& checked(const scene::Scene& scene) {
  if (scene.settings().step.model != scene::ModelKind::kStewartTrinkle)
    throw InputError(
        {scene.spec().file, 0, 0},
        fmt::format(
            "control: needs a step of second order with exact friction, step.model is {}; valid: stewart-trinkle",
            to_string(scene.settings().step.model)));
  return scene;
}

/// One pair: its force acts along `row` (if any), its slack is what the kind says.
struct Row {
  HorizonPair pair;
  VectorXd row;       // size nv; empty for slips
  double offset = 0;  // gap, or distance to the limit, at q̄
};

/// The velocity at the end of a step in which pairs push with γ⁺:
///   v⁺ = drift + V_q(p − p̄) + V_v(v − v̄) + V_u(u − ū) + W Rᵀγ⁺.
struct LinearVelocity {
  VectorXd drift;             // nv
  MatrixXd V_q, V_v, V_u, W;  // nv × nv, nv × nv, nv × nu, nv × nv
};

MatrixXd dense(const BlockDiagonal& blocks, int size) {
  MatrixXd matrix = MatrixXd::Zero(size, size);
  for (int k = 0; k < blocks.num_blocks(); ++k) {
    const int start = blocks.start(k), length = blocks.size(k);
    matrix.block(start, start, length, length) = blocks.block(k);
  }
  return matrix;
}

}  // namespace

struct SceneLinearizer::Impl {
  explicit Impl(const scene::Scene& s)
      : scene(&s),
        model(checked(s)),
        damping(dynamics::joint_damping(s)),
        layout(dynamics::second_order_layout(s)),
        state(s.make_state()),
        assembler(s),
        differentiator(s),
        G_q(s.nv(), s.nv()),
        G_v(s.nv(), s.nv()) {
    scratch.forces.resize(s.nv());
  }

  const scene::Scene* scene;
  dynamics::StewartTrinkle model;  // checks the settings
  VectorXd damping;
  dynamics::EnergyLayout layout;
  scene::SceneState state;
  contact::Assembler assembler;
  dynamics::EnergyDifferentiator differentiator;
  dynamics::TermScratch scratch;
  dynamics::StepResult result;
  solvers::contact::ContactProgram program;
  BlockDiagonal M;
  MatrixXd G_q, G_v;
  std::vector<Row> rows;

  void find_rows(const VectorXd& q, const PairSelection& selection);
  void add_contact(int i, const PairSelection& selection);
  void add_limits(const PairSelection& selection);
  /// Whether a pair at this distance closes within the horizon at the speeds that the bounds allow.
  bool can_close(const VectorXd& row, double offset, const PairSelection& selection) const;
  void assemble_energy(const dynamics::State& at, const VectorXd& v, const VectorXd& u);
  LinearVelocity linearize_velocity(const dynamics::State& at, const VectorXd& v, const VectorXd& u);
  void write_pairs(const MatrixXd& W, const VectorXd& p, SceneLcs& out) const;
};

/// The energy ½δᵀQδ + bᵀδ of the step without contacts, at its start.
void SceneLinearizer::Impl::assemble_energy(const dynamics::State& at, const VectorXd& v, const VectorXd& u) {
  scene->update(at.q, state);
  scene->model().mass_matrix(state.kinematics, M);
  result.problem.nv = scene->nv();
  add_second_order_terms({*scene, state, v, u, at.t, model.h(), M}, damping, layout, scratch, result.problem);
}

/// The minimum of that energy, δ = −Q⁻¹b, and how it moves: Q dδ = −∂(Qδ + b).
LinearVelocity SceneLinearizer::Impl::linearize_velocity(const dynamics::State& at, const VectorXd& v,
                                                         const VectorXd& u) {
  const int nv = scene->nv(), nu = scene->nu();
  const double h = model.h();
  const Eigen::LLT<MatrixXd> factor(dense(result.problem.Q, nv));
  if (factor.info() != Eigen::Success)
    throw std::runtime_error("control: the inertia of the scene is not positive definite");
  const VectorXd delta = -factor.solve(result.problem.b);
  result.delta = delta;
  const dynamics::EnergyPoint point{*scene, state, result, u, delta, h, at.t, v};
  differentiator.jacobians(point, G_q, G_v);
  const VectorXd drives = dynamics::command_stiffness(*scene);
  MatrixXd G_u = MatrixXd::Zero(nv, nu);
  for (int i = 0; i < nu; ++i) G_u(scene->actuated()[i], i) = -drives(i);
  LinearVelocity velocity{.drift = delta / h,
                          .V_q = -factor.solve(G_q) / h,
                          .V_v = -factor.solve(G_v) / h,
                          .V_u = -factor.solve(G_u) / h,
                          .W = factor.solve(MatrixXd::Identity(nv, nv)) / (h * h)};
  for (const scene::Object& object : scene->objects()) {
    if (!object.frozen) continue;  // v⁺ = 0
    for (MatrixXd* block : {&velocity.V_q, &velocity.V_v, &velocity.W})
      block->middleRows(object.first_v, object.nv).setZero();
    velocity.drift.segment(object.first_v, object.nv).setZero();
  }
  return velocity;
}

bool SceneLinearizer::Impl::can_close(const VectorXd& row, double offset, const PairSelection& selection) const {
  double way = 0;
  for (Eigen::Index c = 0; c < row.size(); ++c)
    if (row(c) != 0) way += std::abs(row(c)) * (selection.speed.size() > 0 ? selection.speed(c) : kInfinity);
  way *= selection.time;
  return !(offset > way * (1 + kTouch) + kTouch);  // 0 · ∞ is not a number: stays
}

void SceneLinearizer::Impl::add_contact(int i, const PairSelection& selection) {
  const contact::Contact& contact = result.problem.contacts[i];
  const auto cols = result.problem.J.cols(i);
  const auto J = result.problem.J.block(i);
  const auto spread = [&](Eigen::Index r) {
    VectorXd row = VectorXd::Zero(scene->nv());
    for (std::size_t c = 0; c < cols.size(); ++c) row(cols[c]) = J(r, static_cast<Eigen::Index>(c));
    return row;
  };
  const VectorXd normal = spread(0);
  if (!can_close(normal, contact.gap, selection)) return;
  const HorizonPair pair{.kind = HorizonPair::Kind::kNormal, .a = contact.body_a, .b = contact.body_b};
  rows.push_back({pair, normal, contact.gap});
  if (contact.frictionless || contact.mu < kNoFriction || J.rows() < 2) return;
  std::vector<double> cosines, sines;
  dynamics::ray_angles(program.rays, cosines, sines);
  const VectorXd t1 = spread(1), t2 = J.rows() > 2 ? spread(2) : VectorXd::Zero(scene->nv());
  for (int j = 0; j < program.rays; ++j) {
    Row ray{pair, cosines[j] * t1 + sines[j] * t2};
    ray.pair.kind = HorizonPair::Kind::kFriction;
    ray.pair.index = j;
    rows.push_back(std::move(ray));
  }
  rows.push_back({pair, {}, contact.mu});
  rows.back().pair.kind = HorizonPair::Kind::kSlip;
}

void SceneLinearizer::Impl::add_limits(const PairSelection& selection) {
  for (int v = 0; v < program.lower.size(); ++v) {
    for (const int sign : {1, -1}) {
      const double limit = sign > 0 ? program.lower(v) : program.upper(v);
      if (!std::isfinite(limit)) continue;
      const VectorXd row = sign * VectorXd::Unit(scene->nv(), v);
      if (can_close(row, -sign * limit, selection))
        rows.push_back({{.kind = HorizonPair::Kind::kLimit, .a = v, .b = -1, .index = sign}, row, -sign * limit});
    }
  }
}

void SceneLinearizer::Impl::find_rows(const VectorXd& q, const PairSelection& selection) {
  rows.clear();
  scene->find_contacts(selection.contact_margin, state);
  assembler.assemble(state, contact::assemble_options(scene->settings().step), result.problem);
  dynamics::make_contact_program(*scene, result.problem, program);
  dynamics::set_joint_limits(*scene, q, program);
  for (int i = 0; i < result.problem.J.size(); ++i) add_contact(i, selection);
  add_limits(selection);
}

SceneLinearizer::SceneLinearizer(const scene::Scene& scene) : impl_(std::make_unique<Impl>(scene)) {}
SceneLinearizer::~SceneLinearizer() = default;
SceneLinearizer::SceneLinearizer(SceneLinearizer&&) noexcept = default;
SceneLinearizer& SceneLinearizer::operator=(SceneLinearizer&&) noexcept = default;
double SceneLinearizer::h() const { return impl_->model.h(); }

void SceneLinearizer::linearize(const dynamics::State& at, const VectorXd& u, const PairSelection& selection,
                                SceneLcs& out) {
  Impl& s = *impl_;
  const scene::Scene& scene = *s.scene;
  const int nv = scene.nv();
  const double h = s.model.h();
  dynamics::check_start(scene, at, u);
  const VectorXd v = at.v.size() > 0 ? at.v : VectorXd::Zero(nv);
  s.assemble_energy(at, v, u);
  s.find_rows(at.q, selection);
  const LinearVelocity velocity = s.linearize_velocity(at, v, u);

  // x⁺ = (p + h v⁺, v⁺) = A x + B u + C γ⁺ + F.
  solvers::lcs::LinearComplementaritySystem& lcs = out.system;
  out.x = state(at.q, at.q, v);
  const VectorXd p = out.x.head(nv);
  lcs.A.setZero(2 * nv, 2 * nv);
  lcs.A.bottomLeftCorner(nv, nv) = velocity.V_q;
  lcs.A.bottomRightCorner(nv, nv) = velocity.V_v;
  lcs.A.topRows(nv) = h * lcs.A.bottomRows(nv);
  lcs.A.topLeftCorner(nv, nv).diagonal().array() += 1;
  lcs.B.resize(2 * nv, scene.nu());
  lcs.B.bottomRows(nv) = velocity.V_u;
  lcs.B.topRows(nv) = h * velocity.V_u;
  lcs.F.resize(2 * nv);
  lcs.F.tail(nv) = velocity.drift - velocity.V_q * p - velocity.V_v * v - velocity.V_u * u;
  lcs.F.head(nv) = h * lcs.F.tail(nv);
  s.write_pairs(velocity.W, p, out);
}

/// The selected pairs in the system: C, and the slacks D₀x + D x⁺ + E γ⁺ + H u + α.
void SceneLinearizer::Impl::write_pairs(const MatrixXd& W, const VectorXd& p, SceneLcs& out) const {
  const int nv = scene->nv();
  const double h = model.h();
  const auto n = static_cast<Eigen::Index>(rows.size());
  solvers::lcs::LinearComplementaritySystem& lcs = out.system;
  lcs.C.setZero(2 * nv, n);
  lcs.D0.setZero(n, 2 * nv);
  lcs.D.setZero(n, 2 * nv);
  lcs.E.setZero(n, n);
  lcs.H.setZero(n, scene->nu());
  lcs.alpha.setZero(n);
  out.pairs.clear();
  Eigen::Index normal = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Row& row = rows[i];
    out.pairs.push_back(row.pair);
    if (row.row.size() > 0) {
      lcs.C.col(i).tail(nv) = W * row.row;
      lcs.C.col(i).head(nv) = h * lcs.C.col(i).tail(nv);
    }
    switch (row.pair.kind) {
      case HorizonPair::Kind::kNormal:
        normal = i;
        lcs.E(i, i) = scene->settings().step.compliance / h;
        [[fallthrough]];
      case HorizonPair::Kind::kLimit:
        lcs.D.row(i).head(nv) = row.row;
        lcs.alpha(i) = row.offset - row.row.dot(p);
        break;
      case HorizonPair::Kind::kFriction:
        lcs.D.row(i).tail(nv) = row.row;
        break;
      case HorizonPair::Kind::kSlip:
        lcs.E(i, normal) = row.offset;  // μ
        for (Eigen::Index j = normal + 1; j < i; ++j) {
          lcs.E(i, j) = -1;
          lcs.E(j, i) = 1;
        }
        break;
    }
  }
}

VectorXd SceneLinearizer::state(const VectorXd& q_bar, const VectorXd& q, const VectorXd& v) const {
  const auto velocities = impl_->scene->model().velocities();
  const int nv = impl_->scene->nv();
  VectorXd x(2 * nv);
  x.head(nv) = impl_->scene->model().difference(q_bar, q);
  for (int i = 0; i < nv; ++i)
    if (const int at = velocities[i].q_index; at >= 0) x(i) = q(at);
  x.tail(nv) = v;
  return x;
}

std::vector<std::string> state_names(const scene::Scene& scene) {
  std::vector<std::string> names, rates;
  const auto coordinates = scene.model().coordinates();
  for (const multibody::VelocityInfo& velocity : scene.model().velocities()) {
    const bool turns = velocity.q_index < 0;
    names.push_back(turns ? velocity.name + " angle" : coordinates[velocity.q_index].name);
    rates.push_back(velocity.name == names.back() ? velocity.name + " rate" : velocity.name);
  }
  names.insert(names.end(), rates.begin(), rates.end());
  return names;
}

}  // namespace deft::control
