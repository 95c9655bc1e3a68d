#pragma once
// Many steps at once, on all cores:  (q, v, u)_i → (q⁺, v⁺, A, B, forces)_i.
//
// The work is cut into chunks of fixed length. A chunk begins without memory of any other item, its items follow in
// order and start warm from each other; threads take whole chunks. So the result is the same bit for bit for any number
// of threads, and the finished items of a batch that was stopped are those of the full one.

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "deft/dynamics/derivatives/step_differentiator.hpp"
#include "deft/dynamics/step_model.hpp"

namespace deft::dynamics {

/// Where the items start, a column per item. An input with one column is the same for all items.
struct BatchInput {
  Eigen::MatrixXd q;    // nq × n
  Eigen::MatrixXd v{};  // nv × n; empty: at rest. Models of first order ignore it
  Eigen::MatrixXd u;    // nu × n
  double t = 0;         // [s], on which the external wrenches depend
};

/// Which Jacobians a batch takes: none, those by u, or those by q, v and u.
enum class BatchJacobians { kNone, kB, kAB };

/// What a batch computes and with what means.
struct BatchOptions {
  BatchJacobians jacobians = BatchJacobians::kNone;  // convex models only
  bool row_major = false;                            // Jacobians of an item by rows; BatchResult::of reads by columns
  bool contacts = false;                             // contacts and their forces too
  double mu_gradient = 0;                            // as in DerivativeOptions [J]
  std::optional<double> kappa{};                     // [1/J] instead of step.kappa
  /// ≥ 1, items that share warm starts; unlike `threads` a part of what is computed. 1: every item starts cold, which
  /// is faster where states that follow each other in the list lie far apart.
  int chunk = 8;
  int threads = 0;         // ≥ 0, 0: one per core
  std::stop_token stop{};  // looked at before every item; finished items stay
  /// Called on the calling thread now and then and at the end, with the number of finished items and of all.
  std::function<void(int, int)> on_progress{};
};

/// How far an item came. kNotDone: the batch was stopped before it. kFailed: the step ended with a status that is not
/// usable. kError: an entry that is not finite or a derivative that is not available; `errors` has the sentence, and
/// what was computed before it stays.
enum class ItemState : std::uint8_t { kNotDone, kDone, kFailed, kError };

/// A contact of an item with its force on body a in the world; −force on b.
struct BatchContact {
  int a = 0, b = 0;                  // bodies (Scene::names_bodies), 0 = world
  double gap = 0;                    // φ + J_n δ [m]
  std::array<double, 3> point_W{};   // midpoint of the witness points at the start of the step [m]
  std::array<double, 3> normal_W{};  // unit, from b to a
  std::array<double, 3> force_W{};   // [N]
  std::array<double, 3> torque_W{};  // [N·m] about point_W: torsional friction, and friction off it
};

/// One column, or entry, per item; NaN in the columns of what was not computed. Kept between runs of one size nothing
/// is allocated but for contacts.
struct BatchResult {
  std::vector<ItemState> state;         // how far the item came
  std::vector<solvers::Status> status;  // of the step; kNumericalFailure where none was taken
  Eigen::MatrixXd q_next;               // nq × n
  Eigen::MatrixXd delta;                // nv × n: q⁺ = q ⊕ δ [rad, m]
  Eigen::MatrixXd v_next;               // nv × n; models of first order: 0 × 0
  Eigen::MatrixXd A;                    // nv·nv × n, A = ∂q⁺/∂q by columns; 0 × 0 if not asked for
  Eigen::MatrixXd B;                    // nv·nu × n, B = ∂q⁺/∂u by columns; 0 × 0 if not asked for
  Eigen::MatrixXd A_v, dv_dq, dv_dv;    // nv·nv × n, with A of models of second order: ∂q⁺/∂v, ∂v⁺/∂q, ∂v⁺/∂v
  Eigen::MatrixXd dv_du;                // nv·nu × n, with B of models of second order
  std::vector<std::uint8_t> nonsmooth;  // 1: the Jacobians are one-sided or taken at mu_gradient
  /// Contacts of item i are [contact_offset[i], contact_offset[i + 1]); empty if not asked for.
  std::vector<std::size_t> contact_offset;
  std::vector<BatchContact> contacts;               // of all items, item after item
  std::vector<std::pair<int, std::string>> errors;  // item and reason, ascending by item
  int done = 0;                                     // items that are not kNotDone

  int size() const { return static_cast<int>(state.size()); }  // number of items
  bool completed() const { return done == size(); }            // not stopped before the last item
  /// A Jacobian of one item, nv × nv or nv × nu, without a copy. Valid until the result is changed.
  /// @param all  A, B, A_v, … of this result, not empty.
  Eigen::Map<const Eigen::MatrixXd> of(const Eigen::MatrixXd& all, int item) const {
    return {all.col(item).data(), delta.rows(), all.rows() / std::max<Eigen::Index>(1, delta.rows())};
  }
  Eigen::Map<const Eigen::MatrixXd> A_of(int item) const { return of(A, item); }  // ∂q⁺/∂q, nv × nv
  Eigen::Map<const Eigen::MatrixXd> B_of(int item) const { return of(B, item); }  // ∂q⁺/∂u, nv × nu
};

/// Runs batches of steps of one scene. Keeps a step model and a differentiator per thread, whose scratch later runs use
/// again. One caller at a time.
class Batch {
 public:
  /// @param scene  must outlive this object. @throws InputError as make_step_model.
  explicit Batch(const scene::Scene& scene);
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  /// Steps all items. Bad items carry their state and status; no item ends the batch.
  /// @throws std::invalid_argument on sizes that do not fit the scene or each other, and on options out of range,
  /// before any item is touched; what on_progress throws, after the threads have ended.
  void run(const BatchInput& input, const BatchOptions& options, BatchResult& result);

 private:
  struct Worker;
  const scene::Scene* scene_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

/// The number of threads that the option `threads` means: itself if positive, one per core for 0.
int thread_count(int threads);

}  // namespace deft::dynamics
