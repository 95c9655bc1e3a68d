#pragma once
// What Assimp's reader of COLLADA files does not survive.

#include <string>

namespace deft::collision {

/// Refuses a DAE file that is no well-formed XML in UTF-8, or has something else than whole numbers in its lists of
/// indices (`p`, `h`, `v`, `vcount`): there the reader takes memory without end.
/// @throws std::runtime_error that says what is wrong, with the line.
void check_collada(const std::string& path);

}  // namespace deft::collision
