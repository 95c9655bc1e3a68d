#pragma once
// A Python object as a plant.

#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>
#include <string>
#include <vector>

#include "deft/plant/plant.hpp"

namespace deft::python {

namespace nb = nanobind;

/// The first exception of Python code that a loop calls: kept while the loop ends, thrown after it.
class Raised {
 public:
  /// Calls `work` with the interpreter's lock, not again once it has thrown. @returns whether it came to its end.
  template <typename Work>
  bool guard(Work&& work) {
    const nb::gil_scoped_acquire lock;
    if (thrown_) return false;
    try {
      work();
      return true;
    } catch (...) {
      thrown_ = std::current_exception();
      stop = true;
      return false;
    }
  }
  /// What was thrown, null: nothing.
  const std::exception_ptr& thrown() const { return thrown_; }

  std::atomic<bool> stop{false};  // asks the loop to end

 private:
  std::exception_ptr thrown_;
};

/// reset(q, v, u, seed), step(u, dt), and q, v, time after them, of an object of Python.
class PythonPlant : public plant::Plant {
 public:
  /// @param scene, raised  must outlive this object.
  PythonPlant(nb::object object, const scene::Scene& scene, std::uint64_t seed, Raised& raised);
  ~PythonPlant() override;

  std::string_view name() const override { return name_; }
  const scene::Scene& scene() const override { return scene_; }
  std::vector<std::string> settings() const override { return {"plant of Python: " + name_}; }
  void reset(const dynamics::State& start, const Eigen::VectorXd& u) override;
  plant::PlantStatus advance(const Eigen::VectorXd& u, double period_s) override;
  const dynamics::State& state() const override { return state_; }
  void contacts(std::vector<dynamics::ContactRecord>& out) const override { out.clear(); }
  double energy() const override;
  double residual() const override;

 private:
  /// Reads q, v and time. @returns false, with the state as it was, where q or v is not finite.
  bool read_state();

  nb::object object_;
  const scene::Scene& scene_;
  std::uint64_t seed_;
  Raised& raised_;
  std::string name_;
  dynamics::State state_;
};

}  // namespace deft::python
