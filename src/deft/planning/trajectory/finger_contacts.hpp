#pragma once
// Which contacts are those of fingers with objects.

#include <vector>

#include "deft/contact/contact_problem.hpp"
#include "deft/scene/scene.hpp"

namespace deft::planning {

/// The bodies of a scene that commands move, and those that only other joints move.
class FingerContacts {
 public:
  /// @param scene  is not kept.
  explicit FingerContacts(const scene::Scene& scene);
  /// Whether one of the bodies is moved by commands and the other an object.
  bool contains(const contact::Contact& contact) const {
    const auto a = static_cast<std::size_t>(contact.body_a), b = static_cast<std::size_t>(contact.body_b);
    return (actuated_[a] != 0 && object_[b] != 0) || (actuated_[b] != 0 && object_[a] != 0);
  }

 private:
  std::vector<char> actuated_, object_;  // per body
};

}  // namespace deft::planning
