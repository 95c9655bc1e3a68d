#include "python_plant.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>

#include "arrays.hpp"

namespace deft::python {
namespace {

/// Numbers of an attribute, finite or not. @throws ValueError naming it for another shape.
Eigen::VectorXd attribute(const nb::object& object, const char* name, Eigen::Index size) {
  const nb::object value = object.attr(name);
  const Numbers numbers(value, name);
  if (numbers.ndim() != 1 || numbers.size(0) != size)
    throw nb::value_error(fmt::format("plant.{}: expected shape ({},), got {}", name, size, numbers.shape()).c_str());
  return Eigen::Map<const Eigen::VectorXd>(numbers.data(), size);
}

}  // namespace

PythonPlant::PythonPlant(nb::object object, const scene::Scene& scene, std::uint64_t seed, Raised& raised)
    : object_(std::move(object)), scene_(scene), seed_(seed), raised_(raised) {
  const nb::gil_scoped_acquire lock;
  name_ = nb::type_name(object_.type()).c_str();
}

PythonPlant::~PythonPlant() {
  const nb::gil_scoped_acquire lock;
  object_.reset();
}

bool PythonPlant::read_state() {
  const Eigen::VectorXd q = attribute(object_, "q", scene_.nq()), v = attribute(object_, "v", scene_.nv());
  const nb::object now = object_.attr("time");
  const auto time = nb::cast<double>(now);
  if (!q.allFinite() || !v.allFinite() || !std::isfinite(time)) return false;
  state_ = {.q = q, .v = v, .t = time};
  return true;
}

void PythonPlant::reset(const dynamics::State& start, const Eigen::VectorXd& u) {
  state_ = {.q = start.q, .v = Eigen::VectorXd::Zero(scene_.nv())};
  if (start.v.size() > 0) state_.v = start.v;
  raised_.guard([&] {
    object_.attr("reset")(to_array(state_.q), to_array(state_.v), to_array(u), seed_);
    if (!read_state()) throw nb::value_error("plant.reset: q, v or time is not finite after it");
  });
}

plant::PlantStatus PythonPlant::advance(const Eigen::VectorXd& u, double period_s) {
  bool is_finite = true;
  const bool is_done = raised_.guard([&] {
    object_.attr("step")(to_array(u), period_s);
    is_finite = read_state();
  });
  if (!is_done) return plant::PlantStatus::kStepFailed;
  return is_finite ? plant::PlantStatus::kOk : plant::PlantStatus::kDiverged;
}

double PythonPlant::energy() const { return std::nan(""); }
double PythonPlant::residual() const { return std::nan(""); }

}  // namespace deft::python
