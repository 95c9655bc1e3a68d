#include "batch_bindings.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/batch/batch.hpp"
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

/// One row for all items, repeated.
Eigen::MatrixXd repeated(Rows&& rows, Eigen::Index count) {
  if (rows.columns.cols() == count || rows.columns.cols() == 0) return std::move(rows.columns);
  return rows.columns.replicate(1, count);
}

void run(Batch& self, nb::handle q, nb::handle u, nb::handle v, bool derivatives, BatchResult& out) {
  const Turn turn(self.taken);
  Rows at = read_rows(q, "Q", self.scene.nq()), under = read_rows(u, "U", self.scene.nu());
  Rows with = v.is_none() ? Rows{} : read_rows(v, "V", self.scene.nv());
  const Eigen::Index count = common_rows({{"Q", &at}, {"U", &under}, {"V", &with}});
  const dynamics::BatchInput input{
      .q = repeated(std::move(at), count), .v = repeated(std::move(with), count), .u = repeated(std::move(under), count)};
  const dynamics::BatchOptions options{
      .jacobians = derivatives ? dynamics::BatchJacobians::kAB : dynamics::BatchJacobians::kNone,
      .row_major = true,
      .chunk = 1,  // every item has the bits of a fresh model's first step
      .threads = self.threads,
      .on_progress = [](int, int) { raise_interrupts(); }};
  const nb::gil_scoped_release unlocked;
  self.batch.run(input, options, out);
  for (int i = 0; i < out.size(); ++i) {
    if (out.state[to_size(i)] != dynamics::ItemState::kFailed) continue;
    for (Eigen::MatrixXd* columns : {&out.q_next, &out.delta, &out.v_next})
      if (columns->size() > 0) columns->col(i).setConstant(std::nan(""));
  }
}

/// Vectors of all items, (B, size); None where the model has none.
template <auto Member>
nb::object vectors(nb::handle_t<BatchResult> self) {
  const Eigen::MatrixXd& columns = nb::cast<BatchResult&>(self).*Member;
  if (columns.size() == 0 && columns.rows() == 0) return nb::none();
  return view_of(columns.data(), {to_size(columns.cols()), to_size(columns.rows())}, self);
}

/// Jacobians of all items, (B, n_v, columns); None where they were not asked for.
template <auto Member>
nb::object jacobians(nb::handle_t<BatchResult> self) {
  const BatchResult& result = nb::cast<BatchResult&>(self);
  const Eigen::MatrixXd& columns = result.*Member;
  if (columns.rows() == 0) return nb::none();
  const std::size_t rows = to_size(result.delta.rows());
  return view_of(columns.data(), {to_size(columns.cols()), rows, to_size(columns.rows()) / rows}, self);
}

}  // namespace

void bind_batches(nb::module_& module) {
  nb::class_<BatchResult>(module, "BatchResult", "Steps of a batch; NaN in the rows of items that failed. Arrays are read-only views.")
      .def("__len__", &BatchResult::size)
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
          [](const BatchResult& result) {
            auto* data = new std::uint8_t[result.status.size()];
            nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
            for (std::size_t i = 0; i < result.status.size(); ++i) data[i] = static_cast<std::uint8_t>(result.status[i]);
            return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(data, {result.status.size()}, owner));
          },
          "Numbers of deft.Status, (B,), uint8.")
      .def_prop_ro("nonsmooth",
                   [](const BatchResult& result) {
                     std::vector<bool> all;
                     for (const std::uint8_t one : result.nonsmooth) all.push_back(one != 0);
                     return nb::module_::import_("numpy").attr("array")(all, "dtype"_a = "bool");
                   },
                   "Whether the Jacobians are one-sided or those of a smoothed step, (B,).")
      .def_prop_ro("errors", [](const BatchResult& result) { return result.errors; },
                   "(item, reason) of the items that have no step or no derivative for another reason than their status.");
  nb::class_<Batch>(module, "Batch")
      .def(nb::init<scene::Scene, int>(), "scene"_a, "threads"_a)
      .def("step",
           [](Batch& self, nb::handle q, nb::handle u, nb::handle v, bool derivatives, nb::object out) {
             if (out.is_none()) out = nb::cast(BatchResult{});
             BatchResult* result = nullptr;
             if (!nb::try_cast(out, result)) throw nb::type_error("out: expected what an earlier batch returned");
             run(self, q, u, v, derivatives, *result);
             return out;
           },
           "Q"_a.none(), "U"_a.none(), "V"_a = nb::none(), "derivatives"_a = false, "out"_a = nb::none(),
           "Steps all rows of (Q, V) under those of U on all cores: a BatchResult, `out` if given.");
}

}  // namespace deft::python
