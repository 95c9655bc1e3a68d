// deft demo: the main job on scenes that come with deft, with the page to open at its end.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "deft/core/resources.hpp"
#include "program.hpp"

namespace deft::cli {
namespace {

namespace fs = std::filesystem;

struct DemoOptions { std::string out = "out/demo"; };

/// A command as a person would type it, said before it runs. @returns its exit code.
int run_said(std::vector<std::string> words) {
  fmt::print("$ {}\n", fmt::join(words, " "));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return cli::run(static_cast<int>(words.size()), argv.data());
}

int run_demo(const DemoOptions& options) {
  const auto scene = [](const char* name) { return resource(fmt::format("scenes/planning/{}.deft.yaml", name)); };
  const auto folder = [&](const char* name) { return (fs::path(options.out) / name).string(); };
  // A plan that holds in other worlds too takes seconds; the second one is the first found, made shorter for some
  // seconds.
  const std::vector<std::vector<std::string>> commands{
      {"deft", "plan", scene("planar_hand"), "--seed", "1", "--time-limit", "600", "--out", folder("planar_hand"),
       "--force"},
      {"deft", "plan", scene("allegro_ball"), "--seed", "1", "--first", "--set", "plan.improve_s=5", "--out",
       folder("allegro_ball"), "--force"}};
  for (const auto& command : commands)
    if (const int code = run_said(command); code != kDone) return code;
  fmt::print("Open this page in a browser:\n{}\n",
             fs::absolute(fs::path(folder("allegro_ball")) / "run.html").string());
  return kDone;
}

}  // namespace

Command add_demo(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* const command = app.add_subcommand(
      "demo", "Plan how a planar hand and a hand of sixteen joints turn a ball; prints the page to open");
  command->add_option("--out", options->out, "Folder of the two run folders")->capture_default_str();
  return {command, [options] { return run_demo(*options); }};
}

}  // namespace deft::cli
