#include "deft/dynamics/energy_terms.hpp"

#include <algorithm>

#include "deft/dynamics/effort_limits.hpp"
#include "deft/math/block_parts.hpp"
#include "deft/scene/wrench_table.hpp"

namespace deft::dynamics {
namespace {

const multibody::Model& model_of(const StepStart& start) { return start.scene.model(); }

/// Frozen objects stay where they are: no force acts on them.
void clear_frozen(const StepStart& start, contact::ContactProblem& problem) {
  for (const scene::Object& object : start.scene.objects()) {
    if (object.frozen) problem.b.segment(object.first_v, object.nv).setZero();
  }
}

/// What is frozen does not share its inertia with what moves on it.
void uncouple_frozen(const StepStart& start, const EnergyLayout& layout, contact::ContactProblem& problem) {
  for (const scene::Object& object : start.scene.objects()) {
    if (!object.frozen || object.nv == 0) continue;
    const int k = layout.block_of(object.first_v);
    const auto [first, size] = layout.block(k);
    const int before = object.first_v - first, after = size - before - object.nv;
    auto Q = problem.Q.block(k);
    Q.block(before, 0, object.nv, before).setZero();
    Q.block(0, before, before, object.nv).setZero();
    Q.block(before, before + object.nv, object.nv, after).setZero();
    Q.block(before + object.nv, before, after, object.nv).setZero();
  }
}

/// Makes one block of those from a follower's to its leader's. @param blocks  ascending.
void join_coupled(std::span<const multibody::Coupling> couplings, std::vector<EnergyLayout::Range>& blocks) {
  for (const multibody::Coupling& coupling : couplings) {
    if (coupling.leader_v < 0) continue;
    const int first = std::min(coupling.v, coupling.leader_v), last = std::max(coupling.v, coupling.leader_v);
    const auto ends_before = [](const EnergyLayout::Range& block, int v) { return block.start + block.size <= v; };
    const auto from = std::lower_bound(blocks.begin(), blocks.end(), first, ends_before);
    const auto to = std::lower_bound(from, blocks.end(), last, ends_before);
    if (from == to) continue;
    from->size = to->start + to->size - from->start;
    blocks.erase(from + 1, to + 1);
  }
}

}  // namespace

EnergyLayout::EnergyLayout(std::vector<Range> blocks, int nv) : blocks_(std::move(blocks)), block_of_(nv, -1) {
  for (int k = 0; k < num_blocks(); ++k) std::fill_n(block_of_.begin() + blocks_[k].start, blocks_[k].size, k);
}

void EnergyLayout::clear(contact::ContactProblem& problem) const {
  problem.Q.clear();
  problem.masses.clear();
  problem.b.setZero(static_cast<Eigen::Index>(block_of_.size()));
  for (const Range& range : blocks_) problem.Q.append(range.start, range.size);
}

void EnergyLayout::add(contact::ContactProblem& problem, int row, int column, double value) const {
  const int k = block_of_[row], start = blocks_[k].start;
  problem.Q.block(k)(row - start, column - start) += value;
}

EnergyLayout first_order_layout(const scene::Scene& scene, bool with_objects) {
  std::vector<EnergyLayout::Range> blocks;
  for (const scene::Robot& robot : scene.robots()) {
    for (int v = robot.first_v; v < robot.first_v + robot.nv; ++v) blocks.push_back({v, 1});
  }
  for (const scene::Object& object : scene.objects()) {
    if (with_objects || object.frozen) blocks.push_back({object.first_v, object.nv});
  }
  std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  join_coupled(scene.model().couplings(), blocks);
  return {std::move(blocks), scene.nv()};
}

EnergyLayout second_order_layout(const scene::Scene& scene) {
  std::vector<EnergyLayout::Range> blocks;
  for (const auto& [start, size] : scene.model().inertia_ranges()) blocks.push_back({start, size});
  return {std::move(blocks), scene.nv()};
}

void add_springs(const StepStart& start, const EnergyLayout& layout, contact::ContactProblem& problem) {
  for (const scene::Robot& robot : start.scene.robots()) {
    if (robot.drive == scene::Drive::kForce) {
      for (int i = 0; i < robot.nu; ++i) problem.b(robot.v(i)) -= start.u(robot.first_u + i);
      continue;
    }
    for (int i = 0; i < robot.nu; ++i) {
      const double K = robot.stiffness(i);
      layout.add_diagonal(problem, robot.v(i), K);
      problem.b(robot.v(i)) -= K * (start.u(robot.first_u + i) - start.q()(robot.q(i)));
    }
  }
}

void add_joint_springs(const StepStart& start, const EnergyLayout& layout, contact::ContactProblem& problem) {
  for (const scene::JointSpring& spring : start.scene.springs()) {
    const double k = spring.stiffness, off = spring.at(start.q()) - start.q()(spring.q);
    visit_stiffness(spring, [&](int row, int column, double value) { layout.add(problem, row, column, value); });
    problem.b(spring.v) -= k * off;
    if (spring.leader_v >= 0) problem.b(spring.leader_v) += spring.ratio * k * off;
  }
}

void add_joint_damping(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                       contact::ContactProblem& problem) {
  for (const scene::Robot& robot : start.scene.robots()) {
    for (int i = 0; i < robot.nu; ++i) layout.add_diagonal(problem, robot.v(i), damping(robot.first_u + i) / start.h);
  }
}

void add_gravity(const StepStart& start, bool on_robots, Eigen::VectorXd& scratch, contact::ContactProblem& problem) {
  model_of(start).gravity_force(start.state.kinematics, start.scene.spec().gravity_W, scratch);
  for (const scene::Object& object : start.scene.objects()) {
    if (!object.frozen) problem.b.segment(object.first_v, object.nv) -= scratch.segment(object.first_v, object.nv);
  }
  if (!on_robots) return;
  for (const scene::Robot& robot : start.scene.robots())
    problem.b.segment(robot.first_v, robot.nv) -= scratch.segment(robot.first_v, robot.nv);
}

void add_wrenches(const StepStart& start, std::vector<double>& scratch, contact::ContactProblem& problem) {
  for (const scene::Wrench& wrench : start.scene.wrenches()) {
    const double share =
        scene::wrench_share(wrench, start.t, start.h, model_of(start), start.state.kinematics, start.v);
    if (share == 0) continue;
    const auto cols = model_of(start).columns(wrench.body);
    const auto n = static_cast<Eigen::Index>(cols.size());
    scratch.resize(6 * cols.size());
    model_of(start).point_jacobian(start.state.kinematics, wrench.body, start.state.X_WB()[wrench.body].translation(),
                                   scratch.data(), static_cast<int>(n));
    const Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>> J(scratch.data(), 6, n);
    for (Eigen::Index c = 0; c < n; ++c)
      problem.b(cols[c]) -= share * (J.col(c).head<3>().dot(wrench.torque_W) + J.col(c).tail<3>().dot(wrench.force_W));
  }
}

void add_object_inertia(const StepStart& start, std::span<const double> factors, bool quasistatic,
                        const EnergyLayout& layout, contact::ContactProblem& problem) {
  const auto objects = start.scene.objects();
  for (std::size_t k = 0; k < objects.size(); ++k) {
    const scene::Object& object = objects[k];
    auto target = quasistatic && !object.frozen ? problem.masses.append(object.first_v, object.nv)
                                                : problem.Q.block(layout.block_of(object.first_v));
    add_part(start.M, object.first_v, object.nv, factors[k] / (start.h * start.h), target);
  }
}

void add_momentum(const StepStart& start, Eigen::VectorXd& scratch, const EnergyLayout& layout,
                  contact::ContactProblem& problem) {
  for (int k = 0; k < layout.num_blocks(); ++k) {
    const auto [first, size] = layout.block(k);
    const auto M = start.M.block(k);
    problem.Q.block(k) += M / (start.h * start.h);
    problem.b.segment(first, size) -= (1 / start.h) * M.lazyProduct(start.v.segment(first, size));
  }
  model_of(start).bias_force(start.state.kinematics, start.v, scratch);
  problem.b += scratch;
  uncouple_frozen(start, layout, problem);
  clear_frozen(start, problem);
}

void add_object_damping(const StepStart& start, contact::ContactProblem& problem) {
  for (const scene::Object& object : start.scene.objects()) {
    const double gamma = object.damping.value_or(0);
    if (object.frozen || !(gamma > 0)) continue;
    for (int k = 0; k < start.M.num_blocks(); ++k) {
      const int block = start.M.start(k), low = std::max(object.first_v, block);
      const int n = std::min(object.first_v + object.nv, block + start.M.size(k)) - low;
      if (n > 0)
        problem.Q.block(k).block(low - block, low - block, n, n) +=
            gamma / start.h * start.M.block(k).block(low - block, low - block, n, n);
    }
  }
}

void add_quasistatic_terms(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                           TermScratch& scratch, contact::ContactProblem& problem) {
  layout.clear(problem);
  scratch.factors.assign(start.scene.objects().size(), 1.0);
  add_springs(start, layout, problem);
  add_joint_springs(start, layout, problem);
  add_joint_damping(start, damping, layout, problem);
  add_object_inertia(start, scratch.factors, true, layout, problem);
  add_gravity(start, start.scene.settings().step.robot_gravity, scratch.forces, problem);
  add_wrenches(start, scratch.jacobian, problem);
  clear_frozen(start, problem);
}

void add_second_order_terms(const StepStart& start, const Eigen::VectorXd& damping, const EnergyLayout& layout,
                            TermScratch& scratch, contact::ContactProblem& problem) {
  layout.clear(problem);
  add_springs(start, layout, problem);
  add_joint_springs(start, layout, problem);
  add_joint_damping(start, damping, layout, problem);
  add_gravity(start, start.scene.settings().step.robot_gravity, scratch.forces, problem);
  add_wrenches(start, scratch.jacobian, problem);
  add_momentum(start, scratch.forces, layout, problem);
  add_object_damping(start, problem);
}

double mechanical_energy(const scene::Scene& scene, scene::SceneState& end, const Eigen::VectorXd& v,
                         const Eigen::VectorXd& u, BlockDiagonal& M) {
  const multibody::Model& model = scene.model();
  const Eigen::Vector3d& gravity_W = scene.spec().gravity_W;
  model.mass_matrix(end.kinematics, M);
  double energy = 0.5 * quadratic_form(M, v);
  for (const scene::Object& object : scene.objects()) {
    if (!object.frozen) energy += model.gravity_energy(end.kinematics, gravity_W, {object.first_v, object.nv});
  }
  for (const scene::Robot& robot : scene.robots()) {
    // The weight of all that it carries acts on a base that floats.
    const bool floats = std::any_of(scene.objects().begin(), scene.objects().end(), [&](const scene::Object& object) {
      return object.is_base && !object.frozen && object.model == robot.model;
    });
    if (scene.settings().step.robot_gravity || floats)
      energy += model.gravity_energy(end.kinematics, gravity_W, {robot.first_v, robot.nv});
    if (robot.drive == scene::Drive::kForce) continue;
    const bool saturate = scene.settings().step.effort_limits;
    for (int i = 0; i < robot.nu; ++i) {
      const double limit = saturate ? robot.effort_limit(i) : kInfinity;
      energy += spring_energy(robot.stiffness(i), limit, u(robot.first_u + i) - end.q(robot.q(i)));
    }
  }
  for (const scene::JointSpring& spring : scene.springs()) {
    const double off = spring.at(end.q) - end.q(spring.q);
    energy += 0.5 * spring.stiffness * off * off;
  }
  return energy;
}

}  // namespace deft::dynamics
