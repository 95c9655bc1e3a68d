#pragma once
// What a viewer needs to know of a scene, as JSON text; stored in the run folder so that a run can be drawn without its models.

#include <string>

namespace deft::scene {
class Scene;

/// {"name", "plane": "xy"|"xz"|"yz"|null, "settings": {"h", "model", "dynamics", "cone", "rays", "kappa" (null = exact), "contact_margin", "gravity": [3]},
///  "bodies": [{"name", "role": "world"|"robot"|"object"|"fixed",
///              "visuals": [G…], "collisions": [G…]}],     G = {"X_BG": [qw,qx,qy,qz,x,y,z], "rgba": [r,g,b,a] (optional), "shape": S}
///  S = {"type": "sphere", "radius"} | {"type": "box", "size": [3]} | {"type": "capsule"|"cylinder", "radius", "length"} | {"type": "ellipsoid", "radii": [3]}
///    | {"type": "half_space", "normal": [3], "offset"} | {"type": "mesh", "vertices": [flat xyz…], "triangles": [flat ijk…]}   (prisms and meshes)
///  "goals": [{"name", "bodies": [{"body": index, "X_WB": [7]}]}], "initial": [{"body": index, …}] omitted}
std::string visual_json(const Scene& scene);

}  // namespace deft::scene
