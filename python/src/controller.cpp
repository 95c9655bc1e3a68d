#include "controller.hpp"

#include <cmath>
#include <utility>

namespace deft::python {

/// The plant: an advance hands the command over and waits for the next measurement. One side acts at a time.
class Controller::Meeting : public plant::Plant {
 public:
  explicit Meeting(const scene::Scene& scene) : scene_(scene) {}

  std::string_view name() const override { return "measured"; }
  const scene::Scene& scene() const override { return scene_; }
  std::vector<std::string> settings() const override { return {}; }
  void reset(const dynamics::State& start, const Eigen::VectorXd& u) override {
    state_ = start;
    if (state_.v.size() == 0) state_.v = Eigen::VectorXd::Zero(scene_.nv());
    u_ = u;
  }
  plant::PlantStatus advance(const Eigen::VectorXd& u, double period_s) override {
    std::unique_lock lock(mutex_);
    u_ = u;
    is_commanded_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !is_commanded_; });
    state_.t += period_s;
    return plant::PlantStatus::kOk;
  }
  const dynamics::State& state() const override { return state_; }
  void contacts(std::vector<dynamics::ContactRecord>& out) const override { out.clear(); }
  double energy() const override { return std::nan(""); }
  double residual() const override { return std::nan(""); }

  /// Hands over what was measured; the loop goes on. Not before the first command.
  void measure(const Eigen::VectorXd& q) {
    const std::lock_guard lock(mutex_);
    state_.q = q;
    is_commanded_ = false;
    changed_.notify_all();
  }
  /// Waits for the next command, or the loop's end. @returns the last command.
  Eigen::VectorXd command() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_commanded_ || is_over_; });
    return u_;
  }
  /// The loop has ended.
  void leave() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  /// The loop is to end after this period.
  void stop() {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    is_commanded_ = false;
    changed_.notify_all();
  }
  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return is_over_;
  }
  bool is_stopped() const {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }

 private:
  const scene::Scene& scene_;
  dynamics::State state_;
  Eigen::VectorXd u_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_commanded_ = false, is_over_ = false, is_stopped_ = false;
};

Controller::Controller(execution::TrackedTask task, control::Controller controller, std::uint64_t seed, int threads)
    : task_(std::move(task)), controller_(controller), seed_(seed), threads_(threads) {
  duration_s_ = control::ReferencePath(task_.scene, task_.plan).duration();
  meeting_ = std::make_unique<Meeting>(task_.scene);
}

Controller::~Controller() {
  if (!thread_.joinable()) return;
  meeting_->stop();
  thread_.join();
}

void Controller::work(const Eigen::VectorXd& q_start) {
  try {
    const auto stop = [this] { return meeting_->is_stopped(); };
    execution::Replanner replanner(task_.scene, task_.plan.q.back(), task_.goal_rows, seed_, threads_, stop);
    control::TrackOptions options{.controller = controller_};
    options.search = &replanner;
    options.goal_rows = task_.goal_rows;
    options.record_contacts = false;
    options.on_period = [&](const dynamics::Trajectory&) { return !stop(); };
    motion_ = control::start_tracking(*meeting_, control::ReferencePath(task_.scene, task_.plan), q_start);
    end_ = control::track(*meeting_, task_.scene, task_.plan, q_start, options, motion_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  meeting_->leave();
}

Eigen::VectorXd Controller::update(const Eigen::VectorXd& q, int periods) {
  Eigen::VectorXd u;
  for (int k = 0; k < periods; ++k) {
    if (!thread_.joinable())
      thread_ = std::thread([this, q] { work(q); });
    else if (!meeting_->is_over())
      meeting_->measure(q);
    u = meeting_->command();
  }
  if (meeting_->is_over() && failure_) std::rethrow_exception(failure_);
  return u;
}

int Controller::plan() const { return motion_.tracks.empty() ? 0 : motion_.tracks.back().plan; }

}  // namespace deft::python
