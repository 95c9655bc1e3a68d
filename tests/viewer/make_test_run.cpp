// make_test_run OUT.html KIND: a page for the browser tests.
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>

#include "deft/viewer/html_export.hpp"
#include "synthetic_run.hpp"
#include "synthetic_tracks.hpp"

int main(int argc, char** argv) {
  using deft::viewer::SyntheticOptions;
  const std::map<std::string, SyntheticOptions> kinds = {
      {"push", {}},
      {"no_forces", {.forces = false}},
      {"no_contacts", {.contacts = false}},
      {"no_steps", {.steps = 0}},
      {"smoothed", {.smoothed = true}},
      {"failed", {.failed_step = 40}},
      {"hostile", {.box_name = "</script><script>alert(1)</script><!-- \u2028 \"'&"}},
      {"planned", {.twigs = 20}},
      {"reachable", {.twigs = 20, .reachable = true}},
      {"ball", {.ball = true}},
      {"supports", {.supports = true}},
      {"control", {.control = true}},
      {"patches", {.patches = true}},
      {"tracked", {.tracked = true}},
      {"beside", {.tracked = true}},
      {"untracked_beside", {}},
      {"walled_plane", {.wall = true, .supports = true}},
      {"walled", {.wall = true}},
      {"planning", {.steps = 0, .twigs = 20, .planned = false}},
      {"explained", {.steps = 0, .twigs = 20, .planned = false}},
      {"long", {.steps = 2000, .boxes = 10}},
      {"decimated", {.steps = 2000}},
  };
  const auto kind = argc == 3 ? kinds.find(argv[2]) : kinds.end();
  if (kind == kinds.end()) {
    std::fprintf(stderr, "usage: make_test_run OUT.html KIND; kinds:");
    for (const auto& [name, options] : kinds) std::fprintf(stderr, " %s", name.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  try {
    const deft::viewer::SyntheticRun run = make_synthetic_run(kind->second);
    deft::viewer::PageContent content{
        .title = kind->first, .scene_json = run.scene_json, .trajectory = &run.trajectory, .tree = run.tree};
    // Half as fast a clock, and it ends a second earlier.
    const deft::dynamics::Trajectory other = deft::viewer::beside_of(run.trajectory, kind->first == "beside");
    if (kind->first.ends_with("beside"))
      content.beside = {.title = "open-loop", .title_here = "mpc", .trajectory = &other};
    if (kind->first == "explained") content.explanation = deft::viewer::synthetic_explanation(run.trajectory);
    if (kind->first == "decimated") content.max_bytes = 1'300'000;
    std::ofstream file(argv[1], std::ios::binary);
    file << make_page(content);
    file.close();
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_test_run: %s\n", error.what());
    return 1;
  }
}
