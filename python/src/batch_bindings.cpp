#include "batch_bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/core/stopwatch.hpp"
#include "deft/dynamics/batch/batch.hpp"
#include "deft/dynamics/batch/bundled_gradient.hpp"
#include "errors.hpp"
#include "step_bindings.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;
using dynamics::BatchResult;

/// Batches of one scene, one caller at a time.
struct Batch {
  scene::Scene scene;
  int threads;
  dynamics::Batch batch{scene};
  std::atomic<bool> taken{false};

  Batch(scene::Scene of, int thread_count) : scene(std::move(of)), threads(thread_count) {}
};

/// What Python holds of a batch: arrays of it keep the numbers that they are of.
struct BatchOutput {
  std::shared_ptr<BatchResult> result = std::make_shared<BatchResult>();
  std::shared_ptr<std::atomic<bool>> taken = std::make_shared<std::atomic<bool>>(false);
  double time_s = 0;  // of the batch alone [s]
};

/// One row for all items, repeated.
Eigen::MatrixXd repeated(Rows&& rows, Eigen::Index count) {
  if (rows.columns.cols() == count || rows.columns.cols() == 0) return std::move(rows.columns);
  return rows.columns.replicate(1, count);
}

void run(Batch& self, nb::handle q, nb::handle u, nb::handle v, bool derivatives, BatchOutput& output) {
  const Turn turn(self.taken), turn_of_output(*output.taken);
  Rows at = read_rows(q, "Q", self.scene.nq()), under = read_rows(u, "U", self.scene.nu());
  Rows with = v.is_none() ? Rows{} : read_rows(v, "V", self.scene.nv());
  const Eigen::Index count = common_rows({{"Q", &at}, {"U", &under}, {"V", &with}});
  const dynamics::BatchInput input{.q = repeated(std::move(at), count),
                                   .v = repeated(std::move(with), count),
                                   .u = repeated(std::move(under), count)};
  const dynamics::BatchOptions options{
      .jacobians = derivatives ? dynamics::BatchJacobians::kAB : dynamics::BatchJacobians::kNone,
      .row_major = true,
      .chunk = 1,  // every item has the bits of a fresh model's first step
      .threads = self.threads,
      .on_progress = [](int, int) { raise_interrupts(); }};
  // Other sizes: arrays of the earlier batch keep their memory.
  const BatchResult& earlier = *output.result;
  const bool fits =
      earlier.size() == 0 || (earlier.q_next.cols() == count && earlier.q_next.rows() == self.scene.nq() &&
                              earlier.delta.rows() == self.scene.nv() && (earlier.A.size() > 0) == derivatives);
  const std::shared_ptr<BatchResult> result = fits ? output.result : std::make_shared<BatchResult>();
  BatchResult& out = *result;
  output.result = result;
  const nb::gil_scoped_release unlocked;
  const Stopwatch watch;
  self.batch.run(input, options, out);
  output.time_s = watch.seconds();
  for (int i = 0; i < out.size(); ++i) {
    if (out.state[to_size(i)] != dynamics::ItemState::kFailed) continue;
    for (Eigen::MatrixXd* columns : {&out.q_next, &out.delta, &out.v_next})
      if (columns->size() > 0) columns->col(i).setConstant(std::nan(""));
  }
}

/// Vectors of all items, (B, size); None where the model has none.
template <auto Member>
std::optional<Array> vectors(const BatchOutput& self) {
  const Eigen::MatrixXd& columns = (*self.result).*Member;
  if (columns.rows() == 0 && columns.cols() == 0) return std::nullopt;
  return view_of(columns.data(), {to_size(columns.cols()), to_size(columns.rows())}, self.result);
}

/// Jacobians of all items, (B, n_v, columns); None where they were not asked for.
template <auto Member>
std::optional<Array> jacobians(const BatchOutput& self) {
  const BatchResult& result = *self.result;
  const Eigen::MatrixXd& columns = result.*Member;
  if (columns.rows() == 0 && columns.cols() == 0) return std::nullopt;
  const std::size_t rows = to_size(result.delta.rows());
  if (rows == 0) return new_array({to_size(columns.cols()), 0, 0}, [](double*) {});
  return view_of(columns.data(), {to_size(columns.cols()), rows, to_size(columns.rows()) / rows}, self.result);
}

dynamics::BundleResult bundle(Model& model, nb::handle q, nb::handle u, int samples, nb::handle std, nb::handle std_q,
                              int order, std::uint64_t seed, bool antithetic, int threads) {
  const Turn turn(model.taken());
  const scene::Scene& scene = model.scene();
  const auto deviation = [](nb::handle value, const char* name, Eigen::Index size) -> Eigen::VectorXd {
    const Numbers numbers(value, name);
    if (numbers.ndim() == 0) return Eigen::VectorXd::Constant(1, *numbers.data());
    return read_vector(value, name, size);
  };
  if (order != 0 && order != 1) throw nb::value_error("order: 0 (a fit to the motions) or 1 (the mean of Jacobians)");
  dynamics::BundleOptions options{.order = order == 0 ? dynamics::BundleOrder::kZero : dynamics::BundleOrder::kFirst,
                                  .sigma_u = deviation(std, "std", scene.nu()),
                                  .samples = samples,
                                  .antithetic = antithetic,
                                  .seed = seed,
                                  .threads = threads,
                                  .on_progress = [](int, int) { raise_interrupts(); }};
  if (!std_q.is_none()) options.sigma_q = deviation(std_q, "std_q", scene.nv());
  const dynamics::State start{.q = read_vector(q, "q", scene.nq())};
  const Eigen::VectorXd command = read_vector(u, "u", scene.nu());
  dynamics::BundleResult result;
  {
    const nb::gil_scoped_release unlocked;
    dynamics::Batch batch(scene);
    dynamics::bundle_gradient(scene, batch, start, command, options, result);
  }
  if (result.outcome == dynamics::BundleOutcome::kDone) return result;
  const std::string text = result.outcome == dynamics::BundleOutcome::kFailed
                               ? "the step without noise failed: " + std::string(solvers::sentence(result.status))
                               : "only " + std::to_string(result.used) + " of " + std::to_string(samples) +
                                     " samples have a step; valid: more samples, less noise";
  raise_solve_error(text);
}

/// A matrix of a bundle; None where it was not asked for.
template <auto Member>
std::optional<Array> matrix(const dynamics::BundleResult& result) {
  return (result.*Member).size() == 0 ? std::nullopt : std::optional(to_array(result.*Member));
}

}  // namespace

void bind_batches(nb::module_& module) {
  using dynamics::BundleResult;
  nb::class_<BundleResult>(module, "Bundle", "A gradient averaged over noise.")
      .def_prop_ro("dq_du", &matrix<&BundleResult::B>, "E[∂q⁺/∂u], (n_v, n_u).")
      .def_prop_ro("standard_error", &matrix<&BundleResult::B_standard_error>, "Of the entries of dq_du.")
      .def_prop_ro("dq_dq", &matrix<&BundleResult::A>, "E[∂q⁺/∂q], (n_v, n_v); None without std_q.")
      .def_prop_ro("dq_dq_standard_error", &matrix<&BundleResult::A_standard_error>, "Of the entries of dq_dq.")
      .def_prop_ro(
          "mean", [](const BundleResult& r) { return to_array(r.mean); }, "E[q⁺ ⊖ q⁺(q, u)] [rad, m], (n_v,).")
      .def_prop_ro("used", [](const BundleResult& r) { return r.used; }, "Samples that have a step.");
  module.def("bundle", &bundle, "model"_a, "q"_a.none(), "u"_a.none(), "samples"_a, "std"_a, "std_q"_a.none(),
             "order"_a, "seed"_a, "antithetic"_a, "threads"_a);
  nb::class_<BatchOutput>(module, "BatchResult",
                          "Steps of a batch; NaN in the rows of items that failed. Arrays are read-only views.")
      .def("__len__", [](const BatchOutput& o) { return o.result->size(); })
      .def_prop_ro("q", &vectors<&BatchResult::q_next>, "q⁺, (B, n_q).")
      .def_prop_ro("v", &vectors<&BatchResult::v_next>, "v⁺, (B, n_v); None for models of first order.")
      .def_prop_ro("dq", &vectors<&BatchResult::delta>, "δ with q⁺ = q ⊕ δ [rad, m], (B, n_v).")
      .def_prop_ro("dq_dq", &jacobians<&BatchResult::A>, "∂q⁺/∂q, (B, n_v, n_v); None without derivatives.")
      .def_prop_ro("dq_du", &jacobians<&BatchResult::B>, "∂q⁺/∂u, (B, n_v, n_u).")
      .def_prop_ro("dq_dv", &jacobians<&BatchResult::A_v>, "∂q⁺/∂v, (B, n_v, n_v); None for models of first order.")
      .def_prop_ro("dv_dq", &jacobians<&BatchResult::dv_dq>, "∂v⁺/∂q, likewise.")
      .def_prop_ro("dv_du", &jacobians<&BatchResult::dv_du>, "∂v⁺/∂u, (B, n_v, n_u), likewise.")
      .def_prop_ro("dv_dv", &jacobians<&BatchResult::dv_dv>, "∂v⁺/∂v, likewise.")
      .def_prop_ro(
          "status",
          [](const BatchOutput& output) {
            const BatchResult& result = *output.result;
            auto* data = new std::uint8_t[result.status.size()];
            nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
            for (std::size_t i = 0; i < result.status.size(); ++i)
              data[i] = static_cast<std::uint8_t>(result.status[i]);
            return nb::steal<Array>(
                nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(data, {result.status.size()}, owner)).release());
          },
          "Numbers of deft.Status, (B,), uint8.")
      .def_prop_ro(
          "nonsmooth",
          [](const BatchOutput& output) {
            std::vector<bool> all;
            for (const std::uint8_t one : output.result->nonsmooth) all.push_back(one != 0);
            return nb::borrow<Array>(nb::module_::import_("numpy").attr("array")(all, "dtype"_a = "bool"));
          },
          "Whether the Jacobians are one-sided or those of a smoothed step, (B,).")
      .def_prop_ro(
          "time_s", [](const BatchOutput& output) { return output.time_s; },
          "Time that the C++ batch took [s], without what Python adds.")
      .def_prop_ro(
          "errors", [](const BatchOutput& output) { return output.result->errors; },
          "(item, reason) of the items that have no step or no derivative for another reason than their status.");
  nb::class_<Batch>(module, "Batch")
      .def(nb::init<scene::Scene, int>(), "scene"_a, "threads"_a)
      .def(
          "step",
          [](Batch& self, nb::handle q, nb::handle u, nb::handle v, bool derivatives, nb::object out) {
            if (out.is_none()) out = nb::cast(BatchOutput());
            BatchOutput* result = nullptr;
            if (!nb::try_cast(out, result)) throw nb::type_error("out: expected what an earlier batch returned");
            run(self, q, u, v, derivatives, *result);
            return out;
          },
          "Q"_a.none(), "U"_a.none(), "V"_a = nb::none(), "derivatives"_a = false, "out"_a = nb::none(),
          nb::sig("def step(self, Q: numpy.typing.ArrayLike, U: numpy.typing.ArrayLike, V: numpy.typing.ArrayLike | "
                  "None = None, "
                  "derivatives: bool = False, out: BatchResult | None = None) -> BatchResult"),
          "Steps all rows of (Q, V) under those of U on all cores: a BatchResult, `out` if given.");
}

}  // namespace deft::python
