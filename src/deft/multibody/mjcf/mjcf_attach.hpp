#pragma once
// `<attach>`: the bodies of another file, with what belongs to them. Private to load_mjcf.cpp and mjcf_*.cpp.

#include <set>
#include <string>
#include <vector>

#include "deft/multibody/description/model_spec.hpp"

namespace deft::multibody::mjcf {

/// The link that holds what stands in the worldbody.
inline constexpr const char* kWorldbody = "worldbody";

/// What nested attachments share, so that no file attaches itself and the copies stay bounded.
struct Attachments {
  std::vector<std::string> open;  // files that are being read, the main file first
  int made = 0;                   // attachments of all files so far
};

/// Leaves of a model a link and those that it carries, with the joints, sites, pairs, couplings and values of keyframes
/// that are theirs; the first joint hangs from "world". @pre the model has such a link.
void keep_subtree(const std::string& link, ModelSpec& model);

/// Puts `prefix` before every name of a model but "world", and before the coordinates of its joints.
void prefix_names(const std::string& prefix, ModelSpec& model);

/// Hangs a model from a link.  @param X_LF  its frame there;  @param X_ML  of the link;  @param parent  the link, or
/// "world";  @param world_link  of `model`: what stands in it must have been taken, its sites go to `parent`. Free
/// bodies of its keyframes stay where these say, as in MuJoCo.
void append(ModelSpec model, const std::string& world_link, const std::string& parent, const RigidTransform& X_ML,
            const RigidTransform& X_LF, ModelSpec& to);

}  // namespace deft::multibody::mjcf
