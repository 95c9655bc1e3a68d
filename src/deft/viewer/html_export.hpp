#pragma once
// A motion as one HTML file that opens from disk: no server, no network, no GPU.

#include <optional>
#include <string>

#include "deft/dynamics/trajectory.hpp"
#include "deft/viewer/explanation.hpp"
#include "deft/viewer/search_tree.hpp"

namespace deft::viewer {

/// A second run at the same bodies, drawn beside the first on its clock.
struct Beside {
  std::string title, title_here;                     // of the second run, and of the first where both are named
  const dynamics::Trajectory* trajectory = nullptr;  // the second run; must outlive the call
};

/// What a page shows.
struct PageContent {
  std::string title;                                 // of the page
  std::string scene_json;                            // viewer::visual_json of the scene
  const dynamics::Trajectory* trajectory = nullptr;  // the motion; must outlive the call
  std::optional<SearchTree> tree;                    // of a planner's run
  std::optional<Beside> beside{};                    // a second run
  std::optional<Explanation> explanation{};          // of a planner's run that was asked why
  std::size_t max_bytes = 25u << 20;  // above this size frames are left out evenly, then late nodes; the page says so
};

/// The page's HTML. @throws std::invalid_argument if arrays disagree in size.
std::string make_page(const PageContent& content);

}  // namespace deft::viewer
