#include "deft/core/version.hpp"

namespace deft {

const char* version() { return DEFT_VERSION; }

}  // namespace deft
