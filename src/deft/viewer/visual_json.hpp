#pragma once
// What a viewer needs to know of a scene, as JSON text; stored in the run folder so that a run can be drawn without its
// models.

#include <string>

namespace deft::scene {
class Scene;
}

namespace deft::viewer {

/// {"name", "plane": "xy"|"xz"|"yz"|null, "settings": {"h", "model", "dynamics", "cone", "rays", "kappa" (null =
/// exact), "contact_margin", "gravity": [3]},
///  "bodies": [{"name", "role": "world"|"robot"|"object"|"fixed",
///              "visuals": [G…], "collisions": [G…], "limit_surface": L (of objects, model limit-surface)}],     G =
///              {"X_BG": [qw,qx,qy,qz,x,y,z], "rgba": [r,g,b,a] (optional), "shape": S}
///  S = {"type": "sphere", "radius"} | {"type": "box", "size": [3]} | {"type": "capsule"|"cylinder", "radius",
///  "length"} | {"type": "ellipsoid", "radii": [3]}
///    | {"type": "half_space", "normal": [3], "offset"} | {"type": "mesh", "vertices": [flat xyz…], "triangles": [flat
///    ijk…], "colors": [flat rgb… of each vertex, sRGB] (optional)}   (prisms; meshes, one for each material:
///    painted_mesh)
///  L = {"axes": [a, b, n] (support_axes), "ellipsoid": [upper triangle of Ã by rows: FᵀÃF = 1]}
///    | {"axes", "gyration": ρ [m], "columns": n, "loads": [flat f_a f_b τ…]}: loads [N, N, N·m] on the limit surface
///    of a flat support, that
///      drive the twists (cos β cos α, cos β sin α, sin β/ρ), β from −90° to 90° by rows, α = 0 … 360° by n columns
///  "goals": [{"name", "bodies": [{"body": index, "X_WB": [7]}]}], "initial": [{"body": index, …}] omitted}
std::string visual_json(const scene::Scene& scene);

}  // namespace deft::viewer
