#include "deft/planning/trajectory/horizon_linearization.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "deft/core/index.hpp"
#include "deft/dynamics/batch/bundled_gradient.hpp"
#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/step_model.hpp"
#include "deft/planning/trajectory/finger_contacts.hpp"

namespace deft::planning {
namespace {

constexpr double kLeastGrip_N = 1e-2;  // smoothed contacts with less are far off
constexpr std::size_t kChunk = 5;      // steps that share warm starts; part of the result

bool is_bundle(GradientKind kind) { return kind == GradientKind::kBundledFirst || kind == GradientKind::kBundledZero; }

void check(const LinearizationOptions& options, std::size_t q, std::size_t u) {
  if (q < u) throw std::invalid_argument("linearization: needs a configuration for every command");
  if (!is_bundle(options.kind)) return;
  if (!(options.sigma_u > 0)) throw std::invalid_argument("linearization: bundles need sigma_u > 0");
  if (options.use_A && !(options.sigma_q > 0))
    throw std::invalid_argument("linearization: a bundle has an A only if sigma_q > 0; or set use_A to false");
  if (options.forces || options.grips)
    throw std::invalid_argument("linearization: bundles have no derivatives of forces; kAnalytic and kExact have");
}

}  // namespace

/// One thread's models and scratch.
struct HorizonLinearizer::Worker {
  explicit Worker(const scene::Scene& s)
      : scene(&s), model(dynamics::make_step_model(s)), differentiator(s), fingers(s) {}

  void linearize(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const LinearizationOptions& options,
                 std::uint64_t item, LinearStep& step) {
    step.ok = is_bundle(options.kind) ? bundle(q, u, options, item, step) : differentiate(q, u, options, step);
    if (step.ok && !options.use_A) only_what_objects_do(step);
  }

  bool differentiate(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const LinearizationOptions& options,
                     LinearStep& step) {
    ++solves;
    model->set_kappa(options.kind == GradientKind::kExact ? std::numeric_limits<double>::infinity() : options.kappa);
    model->step(q, u, result);
    if (!solvers::usable(result.status)) return false;
    const bool by_q = options.use_A || options.forces || options.grips;
    const bool grips_only = options.grips && !options.forces;
    differentiator.linearize(*model, dynamics::State{.q = q}, u, result,
                             {.configuration = by_q, .motion_only = grips_only});
    list_grips();
    if (grips_only)
      differentiator.jacobians(listed, derivative);
    else
      differentiator.jacobians(derivative);
    step.A = derivative.A;
    step.B = derivative.B;
    step.q_next = result.q_next;
    const auto count = static_cast<Eigen::Index>(options.forces ? result.problem.contacts.size() : 0);
    step.force.resize(count);
    step.force_q.resize(count, scene->nv());
    step.force_u.resize(count, scene->nu());
    for (Eigen::Index i = 0; i < count; ++i) {
      const int row = derivative.first_row[i];
      step.force(i) = result.solution.force[i][0];
      step.force_q.row(i) = derivative.dforce_dq.row(row);
      step.force_u.row(i) = derivative.dforce_du.row(row);
    }
    step.grips.clear();
    if (options.grips) add_grips(grips_only, step);
    return true;
  }

  /// The contacts of fingers with objects that bear a force.
  void list_grips() {
    listed.clear();
    for (std::size_t i = 0; i < result.problem.contacts.size(); ++i) {
      if (fingers.contains(result.problem.contacts[i]) && result.solution.force[i][0] > kLeastGrip_N)
        listed.push_back(static_cast<int>(i));
    }
  }

  /// Their forces. @param stacked  the derivative has rows of the listed contacts alone.
  void add_grips(bool stacked, LinearStep& step) const {
    for (std::size_t k = 0; k < listed.size(); ++k) {
      const auto i = to_size(listed[k]);
      const std::array<double, 4>& force = result.solution.force[i];
      LinearForce grip{.mu = result.problem.contacts[i].mu, .force = {force[0], force[1], force[2]}};
      const std::size_t place = stacked ? k : i;
      const int first = derivative.first_row[place];
      const Eigen::Index end =
          place + 1 < derivative.first_row.size() ? derivative.first_row[place + 1] : derivative.dforce_du.rows();
      const Eigen::Index rows = std::min<Eigen::Index>(end - first, 3);
      grip.by_q.setZero(3, scene->nv());
      grip.by_u.setZero(3, scene->nu());
      grip.by_q.topRows(rows) = derivative.dforce_dq.middleRows(first, rows);
      grip.by_u.topRows(rows) = derivative.dforce_du.middleRows(first, rows);
      step.grips.push_back(std::move(grip));
    }
  }

  bool bundle(const Eigen::VectorXd& q, const Eigen::VectorXd& u, const LinearizationOptions& options,
              std::uint64_t item, LinearStep& step) {
    if (!batch) batch.emplace(*scene);
    dynamics::BundleOptions sampling;
    sampling.order =
        options.kind == GradientKind::kBundledFirst ? dynamics::BundleOrder::kFirst : dynamics::BundleOrder::kZero;
    sampling.sigma_u.setConstant(1, options.sigma_u);
    if (options.use_A) sampling.sigma_q.setConstant(1, options.sigma_q);
    sampling.samples = options.samples;
    sampling.seed = options.seed + item;
    sampling.threads = 1;
    dynamics::BundleResult bundled;
    dynamics::bundle_gradient(*scene, *batch, dynamics::State{.q = q}, u, sampling, bundled);
    solves += options.samples + 1;
    if (bundled.outcome != dynamics::BundleOutcome::kDone) return false;
    step.A = std::move(bundled.A);
    step.B = std::move(bundled.B);
    step.q_next = std::move(bundled.q_next);
    return true;
  }

  /// A = I on objects, 0 on joints; rows of B of joints = I.
  void only_what_objects_do(LinearStep& step) const {
    step.A.setIdentity(scene->nv(), scene->nv());
    for (int i = 0; i < scene->nu(); ++i) {
      const int v = scene->actuated()[i];
      step.A(v, v) = 0;
      step.B.row(v).setZero();
      step.B(v, i) = 1;
    }
  }

  const scene::Scene* scene;
  std::unique_ptr<dynamics::StepModel> model;
  dynamics::StepDifferentiator differentiator;
  dynamics::StepResult result;
  dynamics::StepDerivative derivative;
  FingerContacts fingers;
  std::vector<int> listed;  // contacts of fingers with objects
  std::optional<dynamics::Batch> batch;
  long solves = 0;
};

HorizonLinearizer::HorizonLinearizer(const scene::Scene& scene) : scene_(&scene) {}
HorizonLinearizer::~HorizonLinearizer() = default;

long HorizonLinearizer::solves() const {
  long solves = 0;
  for (const auto& worker : workers_) solves += worker->solves;
  return solves;
}

void HorizonLinearizer::run(std::span<const Eigen::VectorXd> q, std::span<const Eigen::VectorXd> u,
                            const LinearizationOptions& options, std::vector<LinearStep>& steps) {
  check(options, q.size(), u.size());
  steps.resize(u.size());
  const std::size_t chunks = (u.size() + kChunk - 1) / kChunk;
  const std::size_t threads = std::min(chunks, to_size(dynamics::thread_count(options.threads)));
  while (workers_.size() < threads) workers_.push_back(std::make_unique<Worker>(*scene_));

  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex error_mutex;
  const auto work = [&](Worker& worker) {
    try {
      for (std::size_t chunk = next++; chunk < chunks; chunk = next++) {
        worker.model->reset();
        for (std::size_t t = chunk * kChunk; t < std::min(u.size(), (chunk + 1) * kChunk); ++t)
          worker.linearize(q[t], u[t], options, t, steps[t]);
      }
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      error = std::current_exception();
      next = chunks;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t w = 1; w < threads; ++w) helpers.emplace_back([&, w] { work(*workers_[w]); });
    if (threads > 0) work(*workers_.front());
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace deft::planning
