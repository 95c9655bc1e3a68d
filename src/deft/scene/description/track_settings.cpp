#include "deft/scene/description/track_settings.hpp"

namespace deft::scene {

std::string_view to_string(TrackLinearization linearization) {
  return linearization == TrackLinearization::kMeasured ? "measured" : "reference";
}

std::string_view to_string(TrackPrediction prediction) {
  constexpr std::string_view kWords[] = {"quasidynamic", "second-order", "plant", "corrected"};
  return kWords[static_cast<int>(prediction)];
}

std::string_view to_string(TrackReference reference) {
  return reference == TrackReference::kTimed ? "timed" : "nearest";
}

}  // namespace deft::scene
