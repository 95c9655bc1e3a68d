#include "deft/viewer/html_export.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/viewer/blocks.hpp"
#include "deft/viewer/embedded_page.hpp"
#include "deft/viewer/run_document.hpp"

namespace deft::viewer {
namespace {

/// Nodes of which the blocks take at most half the budget: 26 bytes, 28 per body and, if any node has reachable sets,
/// 4 and 96 for each of them; four thirds of that in base64.
std::size_t fitting_nodes(const PageContent& content, std::size_t budget) {
  std::size_t node = 26 + 28 * content.trajectory->names_bodies.size();
  if (content.tree && !content.tree->reachable.places.empty()) node += 4 + 96 * content.tree->reachable.bodies.size();
  return budget / 2 * 3 / 4 / node;
}

/// The document of as many frames as fit into `budget` bytes, at least the first and the last.
std::string fitting_document(const PageContent& content, std::size_t budget) {
  const std::size_t total = content.trajectory->t.size(), nodes = fitting_nodes(content, budget);
  std::string document = run_document(content, even_frames(total, total), nodes);
  if (document.size() <= budget || total <= 2) return document;

  // Contacts differ from frame to frame, so the first guess from the mean bytes per frame may be a little high.
  const std::size_t smallest = run_document(content, even_frames(total, 2), nodes).size();
  const double bytes_per_frame = static_cast<double>(document.size() - smallest) / static_cast<double>(total - 2);
  double count = smallest >= budget ? 2.0 : 2.0 + static_cast<double>(budget - smallest) / bytes_per_frame;
  for (;; count *= 0.97) {
    const auto kept = std::clamp<std::size_t>(static_cast<std::size_t>(count), 2, total - 1);
    document = run_document(content, even_frames(total, kept), nodes);
    if (document.size() <= budget || kept == 2) return document;
  }
}

}  // namespace

std::string make_page(const PageContent& content) {
  check_content(content);
  const std::string_view page = embedded_page();
  const std::size_t slot = page.find(kDataSlot);
  if (slot == std::string_view::npos || page.find(kDataSlot, slot + 1) != std::string_view::npos) {
    throw std::logic_error("make_page: the viewer page must hold exactly one data slot " + std::string(kDataSlot));
  }
  const std::size_t begin = slot + kDataSlot.size();
  const std::size_t budget = content.max_bytes > page.size() ? content.max_bytes - page.size() : 0;
  const std::string document = fitting_document(content, budget);
  std::string html;
  html.reserve(page.size() + document.size());
  html.append(page.substr(0, begin)).append(document).append(page.substr(begin));
  return html;
}

}  // namespace deft::viewer
