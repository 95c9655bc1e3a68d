// P10: many steps with their Jacobian B as one batch, on one, two and all cores, against the speed-up of a loop of pure
// arithmetic measured in turn with it.
//   batch_benchmark [--count N] [--rounds N] [--jacobians none|B|AB] [--chunk N] SCENE…

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/batch/batch.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/math/random.hpp"

namespace {

using namespace deft;

struct Arguments {
  int count = 8192, rounds = 7;
  dynamics::BatchOptions batch{.jacobians = dynamics::BatchJacobians::kB};
  std::vector<std::string> scenes;
};

constexpr double kShift_rad = 0.02, kShift_m = 0.002, kCommand = 0.05;  // scatter about the grasp

/// Wall time, and the time that all threads spent on the processor.
struct Times { double wall_s = 1e300, processor_s = 1e300; };

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Runs `action` and keeps the smallest times.
template <typename Action>
void keep_best(const Action& action, Times& best) {
  const double before = processor_seconds();
  const Stopwatch watch;
  action();
  best.wall_s = std::min(best.wall_s, watch.seconds());
  best.processor_s = std::min(best.processor_s, processor_seconds() - before);
}

/// Work that touches registers only, cut into chunks like a batch.
double pure_arithmetic(int threads, int chunks) {
  std::atomic<int> next{0};
  std::atomic<double> sum{0};
  const auto work = [&] {
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    while (next.fetch_add(1) < chunks) {
      for (int i = 0; i < 2000; ++i)
        for (double& value : x) value = 0.999999 * value + 1e-6;
    }
    double total = 0;
    for (const double value : x) total += value;
    sum.fetch_add(total);
  };
  {
    std::vector<std::jthread> others;
    for (int k = 1; k < threads; ++k) others.emplace_back(work);
    work();
  }
  return sum;
}

/// The grasp at the end of the scene's own commands.
dynamics::State grasp(const scene::Scene& scene, Eigen::VectorXd& u) {
  const auto model = dynamics::make_step_model(scene);
  dynamics::State state = dynamics::initial_state(*model);
  dynamics::StepResult result;
  const int steps = std::max(1, static_cast<int>(std::ceil(scene.last_knot_time() / model->h() - 1e-9)));
  u.resize(scene.nu());
  for (int k = 0; k < steps; ++k) {
    state.t = k * model->h();
    scene.command(state.t, model->h(), u);
    model->step(state, u, result);
    state.q = result.q_next;
    state.v = result.v_next;
  }
  return state;
}

/// Configurations and commands scattered about the grasp.
dynamics::BatchInput scatter(const scene::Scene& scene, int count) {
  Eigen::VectorXd u;
  const dynamics::State state = grasp(scene, u);
  dynamics::BatchInput input{.q = Eigen::MatrixXd(scene.nq(), count), .u = Eigen::MatrixXd(scene.nu(), count)};
  Eigen::VectorXd shift(scene.nv()), q;
  const auto velocities = scene.model().velocities();
  for (int i = 0; i < count; ++i) {
    std::uint32_t k = 0;
    const auto normal = [&] { return random_normal(1, static_cast<std::uint64_t>(i), k++); };
    shift.setZero();
    for (int v = 0; v < scene.nv(); ++v) shift(v) = normal() * (velocities[v].unit == "rad" ? kShift_rad : kShift_m);
    scene.model().integrate(state.q, shift, q);
    input.q.col(i) = q;
    for (int c = 0; c < scene.nu(); ++c) input.u(c, i) = u(c) + kCommand * normal();
  }
  return input;
}

void measure(const std::string& path, const Arguments& arguments) {
  io::SceneFileOptions files;
  files.bundled_scenes = DEFT_SCENES_DIR;
  files.settings = {"step.forces=any"};
  Diagnostics diagnostics;
  const scene::Scene scene = io::load_scene(path, files, diagnostics);
  const dynamics::BatchInput input = scatter(scene, arguments.count);
  dynamics::Batch batch(scene);
  dynamics::BatchResult result;
  const std::set<int> threads{1, 2, dynamics::thread_count(0)};
  const int most = *threads.rbegin();
  std::vector<Times> pure(to_size(most) + 1), steps(pure.size());
  volatile double sink = 0;
  // As long as the batch, so that both meet the same disturbances.
  Times whole, slice;
  keep_best([&] { batch.run(input, {.jacobians = arguments.batch.jacobians, .threads = 1}, result); }, whole);
  keep_best([&] { sink = pure_arithmetic(1, 100); }, slice);
  const int chunks = std::max(16, static_cast<int>(100 * whole.processor_s / slice.processor_s));
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const int n : threads) {
      keep_best([&] { sink = pure_arithmetic(n, chunks); }, pure[n]);
      dynamics::BatchOptions options = arguments.batch;
      options.threads = n;
      keep_best([&] { batch.run(input, options, result); }, steps[n]);
    }
  }
  const auto done = std::count(result.state.begin(), result.state.end(), dynamics::ItemState::kDone);
  for (const int n : threads) {
    const Times &a = pure[n], &b = steps[n];
    const double of_pure = pure[1].wall_s / a.wall_s, of_batch = steps[1].wall_s / b.wall_s;
    fmt::print("| {} | {} | {} | {} | {:.0f} | {:.1f} | {:.2f} | {:.2f} | {:.3f} | {:.3f} |\n", scene.spec().name,
               scene.nv(), n, done, arguments.count / b.wall_s, 1e6 * b.processor_s / arguments.count, of_batch,
               of_pure, of_batch / of_pure, steps[1].processor_s / b.processor_s * a.processor_s / pure[1].processor_s);
  }
}

dynamics::BatchJacobians jacobians(const std::string& word) {
  if (word == "none") return dynamics::BatchJacobians::kNone;
  return word == "AB" ? dynamics::BatchJacobians::kAB : dynamics::BatchJacobians::kB;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--count" && has_value)
      arguments.count = std::max(1, std::atoi(argv[++i]));
    else if (word == "--rounds" && has_value)
      arguments.rounds = std::max(1, std::atoi(argv[++i]));
    else if (word == "--chunk" && has_value)
      arguments.batch.chunk = std::max(1, std::atoi(argv[++i]));
    else if (word == "--jacobians" && has_value)
      arguments.batch.jacobians = jacobians(argv[++i]);
    else
      arguments.scenes.push_back(word);
  }
  if (arguments.scenes.empty()) {
    for (const char* name : {"allegro_ball", "planar_hand_ball", "pick_and_place"})
      arguments.scenes.push_back(std::string(DEFT_SCENES_DIR) + "/" + name + "/scene.deft.yaml");
  }
  fmt::print(
      "P10: one batch of {} steps with B from scattered states, the best of {} rounds; speed-ups in wall time, the "
      "last "
      "column in processor time\n| scene | velocities | threads | done | steps/s | processor µs/step | speed-up | of "
      "pure "
      "arithmetic | ratio | ratio by processor time |\n|---|---|---|---|---|---|---|---|---|---|\n",
      arguments.count, arguments.rounds);
  try {
    for (const std::string& scene : arguments.scenes) measure(scene, arguments);
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
