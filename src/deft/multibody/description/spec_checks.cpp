#include "deft/multibody/description/spec_checks.hpp"
#include "deft/math/dense.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace deft::multibody {
namespace {

/// Inertias are printed in files with a few digits: what is negative, or violates the triangle inequality, by less than
/// this fraction of the largest principal moment is rounding.
constexpr double kInertiaRounding = 1e-6;

/// Moments below this are none: dummy links of exporters have 1e-35 to 1e-20.
constexpr double kNoInertia = 1e-15;  // [kg m²]

using FirstUse = std::map<std::string, SourceLocation>;

std::string described(const SourceLocation& where) {
  return where.line > 0 ? fmt::format(" (first at line {})", where.line) : std::string();
}

void check_name(const std::string& kind, const std::string& name, const SourceLocation& where, FirstUse& used,
                Diagnostics& diagnostics) {
  if (name.empty()) return diagnostics.error(where, fmt::format("{} without a name", kind));
  if (name == "world")
    return diagnostics.error(where, fmt::format("{} must not be named 'world': that is the fixed ground", kind));
  const auto [first, is_new] = used.emplace(name, where);
  if (!is_new) diagnostics.error(where, fmt::format("duplicate {} name '{}'{}", kind, name, described(first->second)));
}

void check_inertial(const LinkSpec& link, Diagnostics& diagnostics) {
  const InertialSpec& inertial = *link.inertial;
  const auto fail = [&](const std::string& what) {
    diagnostics.error(link.where, fmt::format("link '{}': {}", link.name, what));
  };
  if (!std::isfinite(inertial.mass) || !inertial.p_LCom.allFinite() || !inertial.I_Com_L.allFinite())
    return fail("mass, centre of mass and inertia must be finite numbers");
  if (inertial.mass < 0) return fail(fmt::format("mass {} kg is negative", inertial.mass));
  if (!inertial.I_Com_L.isApprox(inertial.I_Com_L.transpose(), kInertiaRounding))
    return fail("the inertia matrix is not symmetric");

  const Eigen::Vector3d principal = symmetric_eigenvalues(inertial.I_Com_L);  // ascending
  const double rounding = std::max(kInertiaRounding * principal.cwiseAbs().maxCoeff(), kNoInertia);
  if (principal[0] < -rounding)
    return fail(fmt::format("the inertia is not positive definite: principal moments {}, {}, {} kg m²", principal[0],
                            principal[1], principal[2]));
  if (principal[0] + principal[1] < principal[2] - rounding)
    diagnostics.warning(link.where,
                        fmt::format("link '{}': principal moments of inertia {}, {}, {} kg m² violate the triangle "
                                    "inequality; no rigid body has them",
                                    link.name, principal[0], principal[1], principal[2]),
                        "links have principal moments of inertia that no rigid body has");
}

void check_axis(const JointSpec& joint, const JointAxisSpec& axis, Diagnostics& diagnostics) {
  const auto fail = [&](const std::string& what) {
    diagnostics.error(joint.where, fmt::format("joint '{}': {}", joint.name, what));
  };
  if (!axis.axis_J.allFinite())
    fail("the axis must have finite entries");
  else if (axis.axis_J.norm() == 0)
    fail("the axis is zero");
  if (std::isnan(axis.lower) || std::isnan(axis.upper))
    fail("a limit is not a number");
  else if (axis.lower > axis.upper)
    fail(fmt::format("the lower limit {} is above the upper limit {}", axis.lower, axis.upper));
  if (std::isnan(axis.effort_limit) || axis.effort_limit < 0)
    fail(fmt::format("the effort limit {} must not be negative", axis.effort_limit));
  if (std::isnan(axis.velocity_limit) || axis.velocity_limit < 0)
    fail(fmt::format("the velocity limit {} must not be negative", axis.velocity_limit));
  if (!std::isfinite(axis.damping) || axis.damping < 0)
    fail(fmt::format("damping {} must be finite and not negative", axis.damping));
  if (!std::isfinite(axis.armature) || axis.armature < 0)
    fail(fmt::format("armature {} must be finite and not negative", axis.armature));
  if (!std::isfinite(axis.spring_stiffness) || axis.spring_stiffness < 0 || !std::isfinite(axis.spring_reference))
    fail(fmt::format("a spring of stiffness {} at rest at {} must be finite, its stiffness not negative",
                     axis.spring_stiffness, axis.spring_reference));
}

void check_pose(const std::string& owner, const RigidTransform& X, const SourceLocation& where,
                Diagnostics& diagnostics) {
  if (!X.matrix().allFinite()) diagnostics.error(where, fmt::format("{}: the pose must have finite entries", owner));
}

void check_joint(const JointSpec& joint, FirstUse& coordinates, Diagnostics& diagnostics) {
  const std::string owner = fmt::format("joint '{}'", joint.name);
  check_pose(owner, joint.X_PJ, joint.where, diagnostics);
  check_pose(owner, joint.X_CJ, joint.where, diagnostics);
  if (!std::isfinite(joint.armature) || joint.armature < 0)
    diagnostics.error(joint.where,
                      fmt::format("{}: armature {} must be finite and not negative", owner, joint.armature));
  if (joint.kind != JointKind::kAxes) return;
  if (joint.axes.empty()) diagnostics.error(joint.where, fmt::format("{}: no axis", owner));
  for (const JointAxisSpec& axis : joint.axes) {
    check_axis(joint, axis, diagnostics);
    check_name("coordinate", axis.coordinate, joint.where, coordinates, diagnostics);
  }
}

void check_model(const ModelSpec& model, Diagnostics& diagnostics) {
  check_pose(fmt::format("model '{}'", model.name), model.X_WModel, model.where, diagnostics);
  if (model.links.empty()) diagnostics.error(model.where, fmt::format("model '{}' has no link", model.name));
  FirstUse places, joints, coordinates;  // links and frames share one scope
  for (const LinkSpec& link : model.links) {
    check_name("link", link.name, link.where, places, diagnostics);
    check_pose(fmt::format("link '{}'", link.name), link.X_ML, link.where, diagnostics);
    if (link.inertial) check_inertial(link, diagnostics);
  }
  for (const JointSpec& joint : model.joints) {
    check_name("joint", joint.name, joint.where, joints, diagnostics);
    check_joint(joint, coordinates, diagnostics);
  }
  for (const FrameSpec& frame : model.frames) {
    check_name("frame", frame.name, frame.where, places, diagnostics);
    check_pose(fmt::format("frame '{}'", frame.name), frame.X_AF, frame.where, diagnostics);
  }
}

}  // namespace

void check_names_and_values(const MultibodySpec& spec, Diagnostics& diagnostics) {
  FirstUse models, frames;
  for (const ModelSpec& model : spec.models) {
    check_name("model", model.name, model.where, models, diagnostics);
    check_model(model, diagnostics);
  }
  for (const FrameSpec& frame : spec.frames) {
    check_name("frame", frame.name, frame.where, frames, diagnostics);
    check_pose(fmt::format("frame '{}'", frame.name), frame.X_AF, frame.where, diagnostics);
  }
  for (const WeldSpec& weld : spec.welds)
    check_pose(fmt::format("weld of '{}'", weld.child), weld.X_PC, weld.where, diagnostics);
}

}  // namespace deft::multibody
