#include "deft/planning/trajectory/finger_contacts.hpp"

#include <algorithm>

#include "deft/core/index.hpp"

namespace deft::planning {

FingerContacts::FingerContacts(const scene::Scene& scene) {
  std::vector<char> commanded(to_size(scene.nv()), 0);
  for (const scene::Robot& robot : scene.robots()) std::fill_n(commanded.begin() + robot.first_v, robot.nv, 1);
  const std::size_t count = scene.model().bodies().size();
  actuated_.assign(count, 0);
  object_.assign(count, 0);
  for (std::size_t b = 1; b < count; ++b) {
    for (const int v : scene.model().columns(static_cast<int>(b)))
      (commanded[to_size(v)] != 0 ? actuated_ : object_)[b] = 1;
  }
}

}  // namespace deft::planning
