#pragma once
// The version of deft.

namespace deft {

/// "major.minor.patch", as the project of CMake states it.
const char* version();

}  // namespace deft
