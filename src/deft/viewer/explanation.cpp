#include "deft/viewer/explanation.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace deft::viewer {

void check_explanation(const Explanation& explanation, std::size_t bodies) {
  if (explanation.X_WB.size() == explanation.tries.size() * bodies * 7) return;
  throw std::invalid_argument(
      fmt::format("make_page: explanation.X_WB has {} entries, expected {} tries × {} bodies × 7",
                  explanation.X_WB.size(), explanation.tries.size(), bodies));
}

}  // namespace deft::viewer
