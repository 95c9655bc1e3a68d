// Couplings of coordinates: from names to indices.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "deft/core/index.hpp"
#include "deft/multibody/model_impl.hpp"

namespace deft::multibody {
namespace {

/// The couplings of one model.
class ModelCouplings {
 public:
  ModelCouplings(const ModelSpec& spec, const ModelInfo& model, const ModelTables& tables, Diagnostics& diagnostics)
      : spec_(spec), diagnostics_(diagnostics) {
    for (const JointPlace& joint : tables.joints) {
      if (joint.kind != JointKind::kAxes || joint.v < model.first_v || joint.v >= model.first_v + model.nv) continue;
      for (int i = 0; i < joint.nv; ++i)
        places_[tables.velocities[to_size(joint.v + i)].name.substr(spec.name.size() + 1)] = {joint.q + i, joint.v + i};
    }
    for (const CouplingSpec& coupling : spec.couplings) {
      check(coupling);
      if (!stated_.emplace(coupling.follower, &coupling).second) error(coupling, "follows two others");
    }
  }

  void append_to(std::vector<Coupling>& list) const {
    for (const auto& [follower, stated] : stated_) {
      const auto place = places_.find(follower);
      if (place == places_.end()) continue;
      Coupling coupling{.q = place->second.q, .v = place->second.v, .ratio = 1};
      if (resolve(*stated, coupling)) list.push_back(coupling);
    }
  }

 private:
  struct Place { int q, v; };

  void error(const CouplingSpec& coupling, const std::string& what) const {
    diagnostics_.error(coupling.where, fmt::format("joint '{}' {}", coupling.follower, what));
  }

  void check(const CouplingSpec& coupling) const {
    std::vector<std::string> names;
    for (const auto& [name, place] : places_) names.push_back(name);
    for (const std::string& name : {coupling.follower, coupling.leader}) {
      if (name.empty() || places_.contains(name)) continue;
      error(coupling, fmt::format("is to follow '{}': there is no joint '{}' of one degree of freedom in '{}'{}",
                                  coupling.leader, name, spec_.name, did_you_mean(name, names)));
    }
  }

  /// Goes from leader to leader:  follower = ratio · leader + offset.
  bool resolve(const CouplingSpec& stated, Coupling& coupling) const {
    const CouplingSpec* at = &stated;
    for (std::size_t links = 0; at != nullptr; ++links) {
      if (links == stated_.size()) {
        error(stated, "follows itself");
        return false;
      }
      coupling.offset += coupling.ratio * at->offset;
      coupling.ratio *= at->leader.empty() ? 0 : at->ratio;
      const auto leader = places_.find(at->leader);
      coupling.leader_q = leader == places_.end() ? -1 : leader->second.q;
      coupling.leader_v = leader == places_.end() ? -1 : leader->second.v;
      const auto next = stated_.find(at->leader);
      at = next == stated_.end() ? nullptr : next->second;
    }
    return true;
  }

  const ModelSpec& spec_;
  Diagnostics& diagnostics_;
  std::map<std::string, Place> places_;                // of the axes, by coordinate
  std::map<std::string, const CouplingSpec*> stated_;  // by follower
};

}  // namespace

std::vector<Coupling> resolve_couplings(const MultibodySpec& spec, const ModelTables& tables,
                                        Diagnostics& diagnostics) {
  std::vector<Coupling> list;
  for (std::size_t m = 0; m < spec.models.size(); ++m)
    if (!spec.models[m].couplings.empty())
      ModelCouplings(spec.models[m], tables.models[m], tables, diagnostics).append_to(list);
  std::sort(list.begin(), list.end(), [](const Coupling& a, const Coupling& b) { return a.v < b.v; });
  return list;
}

}  // namespace deft::multibody
