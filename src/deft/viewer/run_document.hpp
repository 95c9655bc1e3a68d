#pragma once
// A run as one JSON document: names in clear, numbers as base64 blocks (layout in README.md).

#include <span>
#include <string>

#include "deft/viewer/html_export.hpp"

namespace deft::viewer {

/// @throws std::invalid_argument naming the array whose size or index disagrees with the others.
void check_content(const PageContent& content);

/// The document of the chosen frames. Frame 0 is the start; frame k ≥ 1 is the end of step k − 1 and carries its
/// command, contacts and step record.
/// @param frames  increasing frame indices in [0, T]; frames that are left out lose their contacts and records.
/// @param nodes  most nodes of the tree that are kept.
/// @returns JSON text in which every `<` is written `\u003c`, so that it cannot end or open a script element.
std::string run_document(const PageContent& content, std::span<const std::size_t> frames, std::size_t nodes);

}  // namespace deft::viewer
