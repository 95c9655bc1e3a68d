#pragma once
// The client, built from client/ (or given by the build option DEFT_VIEWER_HTML) and kept inside the library.

#include <string_view>

namespace deft::viewer {

/// The tag into which a run is written; occurs exactly once in the page.
inline constexpr std::string_view kDataSlot = R"(<script id="deft-run" type="application/json">)";

/// The page without a run. Lives as long as the program.
std::string_view embedded_page();

}  // namespace deft::viewer
