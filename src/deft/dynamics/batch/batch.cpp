#include "deft/dynamics/batch/batch.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/contact_records.hpp"
#include "deft/dynamics/models/make_step_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace deft::dynamics {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector3d;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Number of items: that of the inputs that have more, or fewer, than one column.
int count_items(const scene::Scene& scene, const BatchInput& input) {
  Eigen::Index count = 1;
  const auto check = [&](const char* what, const MatrixXd& columns, int rows) {
    if (columns.cols() > 0 && columns.rows() != rows)
      throw std::invalid_argument(fmt::format("batch: {} has {} rows, the scene needs {}", what, columns.rows(), rows));
    if (columns.cols() == 1) return;
    if (count != 1 && columns.cols() != count)
      throw std::invalid_argument(
          fmt::format("batch: {} has {} columns, others have {}; 1 or as many", what, columns.cols(), count));
    count = columns.cols();
  };
  check("q", input.q, scene.nq());
  check("u", input.u, scene.nu());
  if (input.v.size() > 0) check("v", input.v, scene.nv());
  return static_cast<int>(count);
}

void check_options(const BatchOptions& options) {
  if (options.chunk < 1) throw std::invalid_argument("batch: chunk must be at least 1");
  if (options.threads < 0) throw std::invalid_argument("batch: threads must not be negative (0: one per core)");
}

void to_array(const Vector3d& from, std::array<double, 3>& to) { Eigen::Map<Vector3d>(to.data()) = from; }

BatchContact describe(const StepResult& step, std::size_t i) {
  const contact::Contact& contact = step.problem.contacts[i];
  BatchContact result{.a = contact.body_a, .b = contact.body_b, .gap = step.solution.gap[i]};
  to_array(0.5 * (contact.p_WA + contact.p_WB), result.point_W);
  to_array(contact.n_W, result.normal_W);
  const ContactForce force = contact_force(step, i);
  to_array(force.force_W, result.force_W);
  to_array(force.torque_W, result.torque_W);
  return result;
}

auto column(const MatrixXd& columns, int item) { return columns.col(columns.cols() == 1 ? 0 : item); }

/// What the items of one chunk add to lists whose length is not known beforehand.
struct ChunkLists {
  std::vector<BatchContact> contacts;
  std::vector<std::pair<int, std::string>> errors;
};

/// Sizes everything for `count` items, none of them done.
void prepare(const StepModel& model, const BatchOptions& options, int count, BatchResult& result) {
  const int nv = model.scene().nv(), nu = model.scene().nu();
  const auto size = [count](MatrixXd& columns, int rows, bool wanted) {
    columns.resize(wanted ? rows : 0, wanted ? count : 0);
  };
  result.state.assign(count, ItemState::kNotDone);
  result.status.assign(count, solvers::Status::kNumericalFailure);
  result.nonsmooth.assign(count, 0);
  size(result.q_next, model.scene().nq(), true);
  size(result.delta, nv, true);
  size(result.v_next, nv, model.second_order());
  const bool by_u = options.jacobians != BatchJacobians::kNone, by_q = options.jacobians == BatchJacobians::kAB;
  size(result.B, nv * nu, by_u);
  size(result.A, nv * nv, by_q);
  size(result.dv_du, nv * nu, by_u && model.second_order());
  for (MatrixXd* columns : {&result.A_v, &result.dv_dq, &result.dv_dv})
    size(*columns, nv * nv, by_q && model.second_order());
  result.contact_offset.assign(options.contacts ? to_size(count) + 1 : 0, 0);
  result.contacts.clear();
  result.errors.clear();
  result.done = 0;
}

void poison(BatchResult& result, int item) {
  for (MatrixXd* columns : {&result.q_next, &result.delta, &result.v_next, &result.A, &result.B, &result.A_v,
                            &result.dv_dq, &result.dv_dv, &result.dv_du})
    if (columns->size() > 0) columns->col(item).setConstant(kNaN);
}

/// Puts the chunks' lists together, counts, and marks what was not done.
void finish(std::vector<ChunkLists>& lists, BatchResult& result) {
  for (ChunkLists& list : lists) {
    result.contacts.insert(result.contacts.end(), list.contacts.begin(), list.contacts.end());
    std::move(list.errors.begin(), list.errors.end(), std::back_inserter(result.errors));
  }
  for (std::size_t i = 1; i < result.contact_offset.size(); ++i)
    result.contact_offset[i] += result.contact_offset[i - 1];
  for (int i = 0; i < result.size(); ++i) {
    if (result.state[i] == ItemState::kNotDone)
      poison(result, i);
    else
      ++result.done;
  }
}

}  // namespace

int thread_count(int threads) {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// One thread's model and scratch.
struct Batch::Worker {
  explicit Worker(const scene::Scene& scene) : model(make_step_model(scene)), differentiator(scene) {}

  std::unique_ptr<StepModel> model;
  StepDifferentiator differentiator;
  State start;
  Eigen::VectorXd u;
  StepResult step;
  StepDerivative derivative;

  void run_chunk(const BatchInput& input, const BatchOptions& options, int first, int last, ChunkLists& lists,
                 std::atomic<int>& done, BatchResult& result);
  void run_item(const BatchInput& input, const BatchOptions& options, int item, ChunkLists& lists, BatchResult& result);
  void take_jacobians(const BatchOptions& options, int item, BatchResult& result);
};

void Batch::Worker::run_chunk(const BatchInput& input, const BatchOptions& options, int first, int last,
                              ChunkLists& lists, std::atomic<int>& done, BatchResult& result) {
  model->reset();
  for (int item = first; item < last && !options.stop.stop_requested(); ++item) {
    poison(result, item);
    try {
      run_item(input, options, item, lists, result);
    } catch (const std::exception& error) {
      result.state[item] = ItemState::kError;
      lists.errors.emplace_back(item, error.what());
    }
    done.fetch_add(1, std::memory_order_relaxed);
  }
}

void Batch::Worker::run_item(const BatchInput& input, const BatchOptions& options, int item, ChunkLists& lists,
                             BatchResult& result) {
  const auto i = to_size(item);
  start.q = column(input.q, item);
  if (input.v.size() > 0)
    start.v = column(input.v, item);
  else
    start.v.resize(0);
  start.t = input.t;
  u = column(input.u, item);
  model->step(start, u, step);

  result.status[i] = step.status;
  result.q_next.col(item) = step.q_next;
  result.delta.col(item) = step.delta;
  if (result.v_next.size() > 0) result.v_next.col(item) = step.v_next;
  if (!solvers::usable(step.status)) {
    result.state[i] = ItemState::kFailed;
    return;
  }
  if (options.contacts) {
    for (std::size_t k = 0; k < step.problem.contacts.size(); ++k) lists.contacts.push_back(describe(step, k));
    result.contact_offset[i + 1] = step.problem.contacts.size();
  }
  if (options.jacobians != BatchJacobians::kNone) take_jacobians(options, item, result);
  result.state[i] = ItemState::kDone;
}

void Batch::Worker::take_jacobians(const BatchOptions& options, int item, BatchResult& result) {
  const bool all = options.jacobians == BatchJacobians::kAB;
  differentiator.linearize(*model, start, u, step, {.configuration = all, .mu_gradient = options.mu_gradient});
  differentiator.jacobians(derivative);
  const auto keep = [&](const MatrixXd& jacobian, MatrixXd& columns) {
    if (columns.size() == 0) return;
    if (options.row_major)
      columns.col(item) = jacobian.reshaped<Eigen::RowMajor>();
    else
      columns.col(item) = jacobian.reshaped();
  };
  keep(derivative.A, result.A);
  keep(derivative.B, result.B);
  keep(derivative.A_v, result.A_v);
  keep(derivative.dv_dq, result.dv_dq);
  keep(derivative.dv_dv, result.dv_dv);
  keep(derivative.dv_du, result.dv_du);
  result.nonsmooth[item] = differentiator.is_nonsmooth();
}

Batch::Batch(const scene::Scene& scene) : scene_(&scene) { workers_.push_back(std::make_unique<Worker>(scene)); }
Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;

void Batch::run(const BatchInput& input, const BatchOptions& options, BatchResult& result) {
  check_options(options);
  const int count = count_items(*scene_, input), chunks = (count + options.chunk - 1) / options.chunk;
  const int threads = std::max(1, std::min(thread_count(options.threads), chunks));
  while (static_cast<int>(workers_.size()) < threads) workers_.push_back(std::make_unique<Worker>(*scene_));
  for (const auto& worker : workers_) worker->model->set_kappa(options.kappa.value_or(scene_->settings().step.kappa));
  prepare(*workers_[0]->model, options, count, result);

  std::vector<ChunkLists> lists(chunks);
  std::atomic<int> next{0}, done{0};
  std::atomic<bool> abandoned{false};
  const auto take_chunk = [&](Worker& worker) {
    const int chunk = next.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunks || abandoned.load(std::memory_order_relaxed) || options.stop.stop_requested()) return false;
    const int first = chunk * options.chunk, last = std::min(count, first + options.chunk);
    worker.run_chunk(input, options, first, last, lists[chunk], done, result);
    return true;
  };
  std::exception_ptr thrown;
  {
    std::vector<std::jthread> others;
    for (int k = 1; k < threads; ++k)
      others.emplace_back([&, worker = workers_[k].get()] {
        while (take_chunk(*worker)) {
        }
      });
    // The caller is one of the workers, and the one that reports.
    try {
      while (take_chunk(*workers_[0]))
        if (options.on_progress) options.on_progress(done.load(std::memory_order_relaxed), count);
    } catch (...) {
      thrown = std::current_exception();
      abandoned = true;
    }
  }
  finish(lists, result);
  if (thrown) std::rethrow_exception(thrown);
  if (options.on_progress) options.on_progress(result.done, count);
}

}  // namespace deft::dynamics
