#include "deft/planning/search/single_step_rrt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "deft/core/index.hpp"
#include "deft/core/thread_pool.hpp"
#include "deft/dynamics/batch/bundled_gradient.hpp"

namespace deft::planning {
namespace {
constexpr double kNothing = 1e-12;  // [rad, m], a command shorter than it is none
constexpr int kStartGrasps = 20;    // tried at the start
constexpr int kMostTargets = 1000;  // drawn by an iteration, until one is within the limit of a node
}  // namespace

/// Where to grow to, chosen in order.
struct SingleStepRrt::Task {
  Eigen::VectorXd q_target;
  bool regrasps = false;
  bool first_to_goal = false;  // extends its node to the goal for the first time
  int node = -1;               // the nearest, if it is known already
  RandomStream draw{0, 0};     // goes on where the choice left it
};

/// A new node with its linearisation.
struct SingleStepRrt::Growth {
  bool ok = false, holds_goal = false;
  int parent = -1;
  Motion motion;
  Eigen::VectorXd c;
  Eigen::MatrixXd B;  // of the velocities that the goal names

  /// All of it through a Packer or an Unpacker.
  template <typename Pass>
  void pass(Pass& through) {
    through(ok, holds_goal, parent, c, B);
    motion.pass(through);
  }
};

struct SingleStepRrt::Worker : WorkerContext {
  const scene::PlanSettings* settings;
  CommandBounds bounds;
  Eigen::MatrixXd B;
  Eigen::VectorXd e, du;
  std::optional<dynamics::Batch> batch;  // of the samples of a gradient that is averaged
  dynamics::BundleResult bundle;
  long sampled = 0;  // steps

  Worker(const scene::Scene& scene, const Goal& its_goal, const SearchContext& its_shared)
      : WorkerContext(scene, its_goal, its_shared), settings(&scene.settings().plan) {
    bounds.norm = settings->step_norm;
    if (settings->gradient != scene::TreeGradient::kAnalytic) batch.emplace(scene);
  }

  /// ū of a configuration: the joints as they stand.
  Eigen::VectorXd command_at(const Eigen::VectorXd& q) const { return joint_positions(steps.scene(), q); }

  /// c and B about (q, ū) in `growth`. @param seed  of the samples. @returns false if there is none.
  bool linearize(const Eigen::VectorXd& q, std::uint64_t seed, Growth& growth) {
    if (batch) return average(q, seed, growth);
    if (!steps.linearize(q, command_at(q), settings->kappa, growth.c, B)) return false;
    growth.B = B(goal->rows(), Eigen::all);
    return true;
  }

  /// The same of exact steps under ū + w: c = q⁺(q, ū) ⊕ E[y], y the samples' motions beside that step, and B =
  /// E[∂y/∂u] or the fit of y to w.
  bool average(const Eigen::VectorXd& q, std::uint64_t seed, Growth& growth) {
    const bool first_order = settings->gradient == scene::TreeGradient::kFirstOrder;
    bundle_gradient(steps.scene(), *batch, {.q = q}, command_at(q),
                    {.order = first_order ? dynamics::BundleOrder::kFirst : dynamics::BundleOrder::kZero,
                     .sigma_u = Eigen::VectorXd::Constant(1, settings->gradient_sigma),
                     .samples = settings->gradient_samples,
                     .seed = seed,
                     .threads = 1},
                    bundle);
    sampled += settings->gradient_samples + 1;
    if (bundle.outcome != dynamics::BundleOutcome::kDone) return false;
    steps.scene().model().integrate(bundle.q_next, bundle.mean, growth.c);
    growth.B = bundle.B(goal->rows(), Eigen::all);
    return true;
  }

  /// One step towards the target.
  bool extend(const Eigen::VectorXd& q_target, const Eigen::VectorXd& c,
              const Eigen::Ref<const Eigen::MatrixXd>& B_rows, Growth& growth) {
    Motion& motion = growth.motion;
    const Eigen::VectorXd u = command_at(motion.q);
    goal->residual(c, q_target, e);
    bounds.lower = (shared->hand.lower - u).cwiseMin(0.0);
    bounds.upper = (shared->hand.upper - u).cwiseMax(0.0);
    if (settings->command == scene::CommandRule::kClipped)
      clipped_command(B_rows, e.cwiseQuotient(goal->weights()), bounds, du);
    else
      nearest_command(goal->weights().asDiagonal() * B_rows, e, settings->regularization, bounds, du);
    if (du.isZero(kNothing)) return false;  // no command moves the object: the node would be its parent again
    motion.u = u + du;
    motion.commands.push_back(motion.u);
    const bool exact = settings->extend == scene::Extend::kExact;
    Eigen::VectorXd q_next;
    if (!(exact ? steps.step(motion.q, motion.u, q_next)
                : steps.smoothed_step(motion.q, motion.u, settings->kappa, q_next)))
      return false;
    motion.q = std::move(q_next);
    growth.holds_goal = goal->reached(motion.q) && (!exact || rollout.holds(motion));
    return true;
  }

  /// Lets go and takes hold somewhere else.
  bool regrasp(RandomStream& draw, Motion& motion) {
    const std::vector<int> fingers = choose_fingers(draw);
    const bool moves = settings->regrasp == scene::Regrasp::kTransit;
    if (moves && !transit.release(shared->hand.commands_of(fingers), motion)) return false;
    const std::vector<char> commands =
        moves ? choose_moves(motion.q, fingers, draw) : shared->hand.commands_of(fingers);
    const std::optional<Grasp> grasp = sample(motion.q, fingers, commands, draw);
    if (!grasp) return false;
    if (moves) return transit.reach(*grasp, draw, motion);
    set_joint_positions(steps.scene(), grasp->joints, motion.q);
    motion.u = grasp->joints;
    return true;
  }
};

SingleStepRrt::SingleStepRrt(const scene::Scene& scene, const Goal& goal, const Eigen::VectorXd& q,
                             const Eigen::VectorXd& u, std::uint64_t seed)
    : scene_(&scene),
      goal_(&goal),
      seed_(seed),
      box_(scene, goal),
      metric_(scene, goal, scene.settings().plan.metric, scene.settings().plan.metric_gamma),
      shared_(scene, goal, deadline_) {
  workers_.push_back(std::make_unique<Worker>(scene, goal, shared_));
  const scene::PlanSettings& settings = scene.settings().plan;
  const auto least = settings.gradient == scene::TreeGradient::kFirstOrder ? 2 : static_cast<int>(scene.nu()) + 2;
  if (settings.gradient != scene::TreeGradient::kAnalytic && settings.gradient_samples < least)
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("plan.gradient_samples: {} are too few for plan.gradient: {}; valid: {} or more",
                                 settings.gradient_samples, to_string(settings.gradient), least));
  Growth growth;
  if (!workers_.front()->linearize(q, seed_of(seed, 0), growth))
    throw InputError({scene.spec().file, 0, 0},
                     fmt::format("plan.search: single-step: the {} fails at the start",
                                 workers_.front()->batch ? "averaged gradient" : "smoothed step"));
  Node root;
  root.q = q;
  root.u = u;
  root.distance = goal.distance(q);
  add(std::move(root));
  keep_linearization(q, growth);
  if (scene.settings().plan.start_grasp) grasp_at_start();
}

SingleStepRrt::~SingleStepRrt() = default;

void SingleStepRrt::grasp_at_start() {
  RandomStream draw(seed_, ~std::uint64_t{0});
  Growth growth;
  growth.parent = 0;
  Worker& hand = *workers_.front();
  for (int k = 0; k < kStartGrasps && !growth.ok; ++k) {
    growth.motion = Motion{nodes_.front().q, nodes_.front().u, {}};
    growth.ok = hand.regrasp(draw, growth.motion) && hand.linearize(growth.motion.q, seed_of(seed_, 0), growth);
  }
  if (!growth.ok) throw InputError({scene_->spec().file, 0, 0}, "plan.start_grasp: no contact was found at the start");
  append(Task{.regrasps = true}, growth, 0);
  metric_.remove(0);
}

void SingleStepRrt::keep_linearization(const Eigen::VectorXd& q, const Growth& growth) {
  linearizations_.insert(linearizations_.end(), growth.c.begin(), growth.c.end());
  linearizations_.insert(linearizations_.end(), growth.B.data(), growth.B.data() + growth.B.size());
  metric_.add(q, growth.c, growth.B);
  extended_to_goal_.push_back(0);
}

SingleStepRrt::Task SingleStepRrt::draw_task(std::uint64_t item) {
  const scene::PlanSettings& settings = scene_->settings().plan;
  Task task{.draw = choice_draw(seed_, item)};
  const bool to_goal = task.draw.chance(settings.goal_bias);
  task.regrasps = task.draw.chance(settings.grasp_share);
  if (to_goal) {
    // The same target again and again: only what was added since is looked at.
    goal_nearest_ = metric_.nearest(goal_->q(), goal_seen_, goal_nearest_);
    goal_seen_ = metric_.size();
    const bool in_reach = goal_nearest_.node >= 0 && goal_nearest_.distance <= settings.metric_limit;
    char* extended = in_reach ? &extended_to_goal_[goal_nearest_.node] : nullptr;
    if (in_reach && !(settings.goal_once && *extended && !task.regrasps)) {
      task.first_to_goal = !*extended && !task.regrasps;
      *extended = *extended || task.first_to_goal;
      task.q_target = goal_->q();
      task.node = goal_nearest_.node;
      return task;
    }
  }
  task.q_target = box_.draw(task.draw);
  return task;
}

void SingleStepRrt::drop_rejected() {
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    if (!nodes_[i].rejected) continue;
    if (std::find(dropped_.begin(), dropped_.end(), i) != dropped_.end()) continue;
    dropped_.push_back(i);
    metric_.remove(i);
    goal_seen_ = 0;
    goal_nearest_ = {};
  }
}

void SingleStepRrt::append(const Task& task, Growth& growth, double time_s) {
  const scene::PlanSettings& settings = scene_->settings().plan;
  Node& parent = nodes_[growth.parent];
  ++parent.tries;
  if (!growth.ok) return;
  Node node;
  node.parent = growth.parent;
  node.kind = task.regrasps ? NodeKind::kTransit : NodeKind::kRollout;
  node.q = std::move(growth.motion.q);
  node.u = std::move(growth.motion.u);
  node.commands = std::move(growth.motion.commands);
  node.distance = goal_->distance(node.q);
  node.cost_s = parent.cost_s + *scene_->settings().step.h * static_cast<double>(node.commands.size()) +
                (task.regrasps ? settings.regrasp_cost_s : 0);
  node.regrasps = parent.regrasps + task.regrasps;
  node.time_s = time_s;
  const int added = add(std::move(node));
  keep_linearization(nodes_.back().q, growth);
  if (growth.holds_goal) mark_goal(added);
}

int SingleStepRrt::nearest_node(Task& task) const {
  if (task.node >= 0) return task.node;
  for (int drawn = 1;; ++drawn) {
    const ReachableMetric::Nearest nearest = metric_.nearest(task.q_target);
    if (nearest.node >= 0 && nearest.distance <= scene_->settings().plan.metric_limit) return nearest.node;
    if (drawn >= kMostTargets || deadline_.due()) return -1;
    task.q_target = box_.draw(task.draw);
  }
}

void SingleStepRrt::grow(Task& task, std::uint64_t item, Worker& worker, Growth& growth) const {
  growth = Growth{};
  growth.parent = nearest_node(task);
  if (growth.parent < 0) return;
  worker.steps.reset();
  const auto parent = to_size(growth.parent);
  growth.motion = Motion{{nodes_[parent].q, nodes_[parent].u, {}}, {}};
  if (task.regrasps) {
    RandomStream draw = growth_draw(seed_, item);
    growth.ok = worker.regrasp(draw, growth.motion);
  } else {
    const Eigen::Index nq = scene_->nq(), nu = scene_->nu(), rows = goal_->size();
    const double* at = linearizations_.data() + parent * to_size(nq + rows * nu);
    growth.ok = worker.extend(task.q_target, Eigen::Map<const Eigen::VectorXd>(at, nq),
                              Eigen::Map<const Eigen::MatrixXd>(at + nq, rows, nu), growth);
  }
  growth.ok = growth.ok && worker.linearize(growth.motion.q, seed_of(seed_, item + 1), growth);
}

SearchEnd SingleStepRrt::search(const SearchLimits& limits) {
  const scene::PlanSettings& settings = scene_->settings().plan;
  const int threads = equip(limits.threads, *scene_, *goal_, shared_, workers_);
  drop_rejected();
  std::vector<Task> tasks(settings.batch);
  std::vector<Growth> growths(tasks.size());
  const auto number_of = [this](int item) { return static_cast<std::uint64_t>(tried_ + item); };
  ThreadPool pool(threads, [&](int worker, int item) {
    grow(tasks[to_size(item)], number_of(item), *workers_[worker], growths[to_size(item)]);
  });

  BatchParts parts;
  parts.choose = [&](int count) {
    for (int k = 0; k < count; ++k) tasks[k] = draw_task(number_of(k));
  };
  parts.unchoose = [&](int count) {
    for (int k = 0; k < count; ++k) {
      if (tasks[k].first_to_goal) extended_to_goal_[tasks[k].node] = 0;
    }
  };
  parts.grow = [&](int count) { pool.run(count); };
  parts.append = [&](int item, double time_s) {
    const auto k = to_size(item);
    if (growths[k].parent >= 0) append(tasks[k], growths[k], time_s);
  };
  parts.pack = [&](int item, Packer& out) { growths[item].pass(out); };
  parts.unpack = [&](int item, Unpacker& in) {
    const auto k = to_size(item);
    growths[k].pass(in);
    check_choice(growths[k].parent, tasks[k].node >= 0 ? tasks[k].node : growths[k].parent);
  };
  return grow_in_batches(limits, settings.batch, parts);
}

long SingleStepRrt::solves_here() const {
  long sum = 0;
  for (const auto& worker : workers_) sum += worker->steps.solves() + worker->sampled;
  return sum;
}

}  // namespace deft::planning
