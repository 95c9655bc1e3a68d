#include "deft/scene/description/scene_spec.hpp"

namespace deft::scene {

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::kConvex:
      return "convex";
    case ModelKind::kPerfectTracking:
      return "perfect-tracking";
    case ModelKind::kImpedance:
      return "impedance";
    case ModelKind::kLimitSurface:
      return "limit-surface";
    case ModelKind::kStewartTrinkle:
      return "stewart-trinkle";
    case ModelKind::kConvexSecondOrder:
      return "convex-second-order";
    case ModelKind::kEquivalentContactPoint:
      return "equivalent-contact-point";
  }
  return "";
}

bool is_complementarity_model(ModelKind kind) {
  return kind == ModelKind::kPerfectTracking || kind == ModelKind::kImpedance || kind == ModelKind::kStewartTrinkle ||
         kind == ModelKind::kLimitSurface;
}

std::string_view to_string(Dynamics dynamics) {
  return dynamics == Dynamics::kQuasidynamic ? "quasidynamic" : "quasistatic";
}
std::string_view to_string(Drive drive) { return drive == Drive::kPosition ? "position" : "force"; }
std::string_view to_string(Fallback fallback) { return fallback == Fallback::kZero ? "zero" : "hold"; }
std::string_view to_string(Cone cone) { return cone == Cone::kPyramid ? "pyramid" : "cone"; }
std::string_view to_string(FrictionLaw law) { return law == FrictionLaw::kAssociated ? "associated" : "coulomb"; }
std::string_view to_string(LimitSurfaceForm form) {
  return form == LimitSurfaceForm::kTimeStepping ? "time-stepping" : "velocity";
}
std::string_view to_string(Search search) { return search == Search::kRollout ? "rollout" : "single-step"; }
std::string_view to_string(PlanMetric metric) { return metric == PlanMetric::kLocal ? "local" : "global"; }
std::string_view to_string(Extend extend) { return extend == Extend::kExact ? "exact" : "smoothed"; }
std::string_view to_string(CommandRule rule) { return rule == CommandRule::kBounded ? "bounded" : "clipped"; }
std::string_view to_string(TreeGradient gradient) {
  return gradient == TreeGradient::kAnalytic     ? "analytic"
         : gradient == TreeGradient::kFirstOrder ? "first-order"
                                                 : "zero-order";
}
std::string_view to_string(Sampler sampler) {
  switch (sampler) {
    case Sampler::kPushing:
      return "pushing";
    case Sampler::kPlanarHand:
      return "planar-hand";
    case Sampler::kAllegroClosing:
      return "allegro-closing";
    case Sampler::kBimanual:
      return "bimanual";
    default:
      return "surface";
  }
}
std::string_view to_string(Regrasp regrasp) { return regrasp == Regrasp::kTransit ? "transit" : "teleport"; }
std::string_view to_string(Forces forces) { return forces == Forces::kAny ? "any" : "least_norm"; }

std::string_view to_string(Plane plane) {
  switch (plane) {
    case Plane::kSpace:
      return "space";
    case Plane::kXY:
      return "xy";
    case Plane::kXZ:
      return "xz";
    case Plane::kYZ:
      return "yz";
  }
  return "";
}

}  // namespace deft::scene
