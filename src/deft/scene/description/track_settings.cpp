#include "deft/scene/description/track_settings.hpp"

namespace deft::scene {

std::string_view to_string(TrackLinearization linearization) {
  return linearization == TrackLinearization::kMeasured ? "measured" : "reference";
}

std::string_view to_string(TrackReference reference) {
  return reference == TrackReference::kTimed ? "timed" : "nearest";
}

}  // namespace deft::scene
