#include "run_page.hpp"

#include "deft/viewer/html_export.hpp"

namespace deft::cli {

void write_page(const std::string& path, const io::RunHeader& header, const dynamics::Trajectory& trajectory) {
  viewer::PageContent content;
  content.title = header.name;
  content.scene_json = header.scene_json;
  content.trajectory = &trajectory;
  io::publish_text(path, viewer::make_page(content));
}

}  // namespace deft::cli
