#include "limit_surface_bindings.hpp"

#include <Eigen/Cholesky>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "deft/math/uniform_pressure.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

/// FᵀAF = 1, or a support.
struct LimitSurface { std::variant<Eigen::Matrix3d, UniformPressure> of; };

LimitSurface ellipsoid(nb::handle A) {
  const Numbers numbers(A, "A");
  Eigen::Matrix3d form = Eigen::Matrix3d::Zero();
  if (numbers.ndim() == 1 && numbers.size(0) == 3)
    form.diagonal() = Eigen::Map<const Eigen::Vector3d>(numbers.data());
  else if (numbers.ndim() == 2 && numbers.size(0) == 3 && numbers.size(1) == 3)
    form = Eigen::Map<const Eigen::Matrix3d>(numbers.data());
  else
    throw nb::value_error(("A: expected shape (3,) or (3, 3), got " + numbers.shape()).c_str());
  if (!form.allFinite() || !form.isApprox(form.transpose(), 1e-9) || form.llt().info() != Eigen::Success)
    throw nb::value_error("A: expected a symmetric positive definite form");
  return {form};
}

/// Row by row of (3,) or (batch, 3).
template <typename Map>
Array each(nb::handle value, const char* name, Map map) {
  const Rows rows = read_rows(value, name, 3);
  Eigen::MatrixXd out(rows.columns.cols(), 3);
  for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) = map(Eigen::Vector3d(rows.columns.col(i)));
  return rows.is_batch ? to_array(out) : to_array(Eigen::VectorXd(out.row(0)));
}

Array wrench(const LimitSurface& surface, nb::handle twist) {
  return each(twist, "twist", [&](const Eigen::Vector3d& V) -> Eigen::Vector3d {
    if (const auto* support = std::get_if<UniformPressure>(&surface.of)) return support->load(V);
    if (V.isZero(0)) return Eigen::Vector3d::Zero();
    const Eigen::Vector3d F = std::get<Eigen::Matrix3d>(surface.of).llt().solve(V);
    return F / std::sqrt(V.dot(F));
  });
}

Array twist(const LimitSurface& surface, nb::handle wrench) {
  return each(wrench, "wrench", [&](const Eigen::Vector3d& F) -> Eigen::Vector3d {
    if (const auto* support = std::get_if<UniformPressure>(&surface.of)) return support->twist(F);
    return std::get<Eigen::Matrix3d>(surface.of) * F;
  });
}

LimitSurface from_pressure(nb::handle polygon, double friction_N) {
  const Rows rows = read_rows(polygon, "polygon", 2);
  std::vector<Eigen::Vector2d> corners;
  for (Eigen::Index i = 0; i < rows.columns.cols(); ++i) corners.emplace_back(rows.columns.col(i));
  return {UniformPressure(std::move(corners), friction_N)};
}

}  // namespace

void bind_limit_surfaces(nb::module_& module) {
  nb::class_<LimitSurface>(
      module, "LimitSurface",
      "The loads F = (f_x, f_y, m) [N, N, N·m] that a support just resists; twists are V = (v_x, v_y, ω) "
      "[m/s, rad/s]. LimitSurface(A): the ellipsoid FᵀAF = 1.")
      .def(
          "__init__", [](LimitSurface* self, nb::handle A) { new (self) LimitSurface(ellipsoid(A)); }, "A"_a)
      .def("wrench", &wrench, "twist"_a,
           "The load that drives a twist, on the surface: for an ellipsoid A⁻¹V/√(VᵀA⁻¹V); 0 for V = 0. (3,) or "
           "(batch, 3).")
      .def("twist", &twist, "wrench"_a,
           "How the support moves under a load: ∇H(F), H = ½g² with the surface's gauge g; for an ellipsoid A F. (3,) "
           "or (batch, 3).")
      .def_static("from_pressure", &from_pressure, "polygon"_a, "friction_N"_a,
                  "Of a flat support with uniform pressure, exactly: corners in order, (n, 2) [m], and μN [N].");
}

}  // namespace deft::python
