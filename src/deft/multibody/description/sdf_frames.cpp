#include "deft/multibody/description/sdf_frames.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deft::multibody {

void SdfFrames::add(const std::string& name, const std::string& relative_to, const RigidTransform& X_RF,
                    const std::string& attached_to, const SourceLocation& where) {
  frames_.emplace(name, Frame{relative_to, attached_to, X_RF, where, false, std::nullopt});
}

SdfFrames::Frame* SdfFrames::find(const std::string& name, const SourceLocation& where) {
  const auto found = frames_.find(name);
  if (found != frames_.end()) return &found->second;
  if (std::find(reported_.begin(), reported_.end(), name) == reported_.end()) {
    std::vector<std::string> names;
    for (const auto& entry : frames_) names.push_back(entry.first);
    diagnostics_.error(where, fmt::format("frame '{}' not found{}", name, did_you_mean(name, names)));
    reported_.push_back(name);
  }
  return nullptr;
}

RigidTransform SdfFrames::pose(const std::string& name, const SourceLocation& where) {
  if (name == "__model__") return RigidTransform::Identity();
  Frame* frame = find(name, where);
  if (frame == nullptr) return RigidTransform::Identity();
  if (frame->X_MF) return *frame->X_MF;
  if (frame->on_path) {
    diagnostics_.error(frame->where, fmt::format("the pose of '{}' is given relative to itself, through '{}'", name,
                                                 frame->relative_to));
    frame->X_MF = RigidTransform::Identity();
    return *frame->X_MF;
  }
  frame->on_path = true;
  const RigidTransform X_MF = pose(frame->relative_to, frame->where) * frame->X_RF;
  frame->on_path = false;
  if (!frame->X_MF) frame->X_MF = X_MF;
  return *frame->X_MF;
}

std::string SdfFrames::link(const std::string& name, const SourceLocation& where) {
  std::string at = name;
  for (std::size_t step = 0; step <= frames_.size(); ++step) {
    if (at == "world") return at;
    const Frame* frame = find(at, where);
    if (frame == nullptr) return "";
    if (frame->attached_to.empty()) return at;
    at = frame->attached_to;
  }
  diagnostics_.error(where, fmt::format("'{}' is attached to itself", name));
  return "";
}

}  // namespace deft::multibody
