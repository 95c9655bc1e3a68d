// precompiled.hpp and the JSON library, for the modules that write or read JSON.
#include <nlohmann/json.hpp>

#include "precompiled.hpp"
