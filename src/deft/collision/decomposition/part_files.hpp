#pragma once
// Parts of meshes as files, kept so that a scene is decomposed once.

#include <filesystem>
#include <string>
#include <vector>

#include "deft/collision/shapes/triangle_mesh.hpp"
#include "deft/multibody/description/shape_spec.hpp"

namespace deft::collision {

/// Where parts are kept: the folder that the environment variable DEFT_CACHE_DIR names, else deft in that of
/// XDG_CACHE_HOME, else ~/.cache/deft. @throws InputError if none of these is set.
std::filesystem::path cache_folder();

/// Writes a surface as Wavefront OBJ, with the shortest digits that read back. @throws std::runtime_error that names
/// the file if it cannot be written.
void write_obj(const TriangleMesh& mesh, const std::filesystem::path& file);

/// Writes NAME_000.obj, NAME_001.obj, … into an existing folder. @returns the files. @throws as write_obj.
std::vector<std::string> write_parts(const std::vector<TriangleMesh>& parts, const std::filesystem::path& folder,
                                     const std::string& name);

/// The files of the parts of a mesh that states `decompose`, in metres: those of the cache, in convex/HASH, where HASH
/// is that of corners, triangles and settings; computed and put there if they are not. A folder appears there complete
/// or not at all. @throws InputError that names the mesh: it cannot be read, decomposed, or the cache cannot be
/// written.
std::vector<std::string> part_files(const multibody::MeshSpec& mesh);

}  // namespace deft::collision
