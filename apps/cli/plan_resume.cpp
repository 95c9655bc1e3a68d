#include "plan_resume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "deft/core/text_file.hpp"
#include "json.hpp"

namespace deft::cli {
namespace {

/// A word of a command line; in quotes if a shell would read more than the word in it.
std::string shell_word(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::optional<std::string> finished_summary(const std::string& folder, const io::JournalFile& journal) {
  if (static_cast<int>(journal.results().size()) < journal.header().seeds) return std::nullopt;
  std::optional<std::string> text = read_file((std::filesystem::path(folder) / "summary.json").string());
  return text && Json::accept(*text) ? std::move(text) : std::nullopt;  // none: killed just before its end
}

bool may_go_on(const planning::PlannerResult& result, const io::JournalHeader& run, bool interrupted) {
  return interrupted || (result.end == planning::SearchEnd::kTime && !result.plan.holds() && run.seeds == 1);
}

std::string resume_command(const SceneOptions& scene, const std::optional<int>& nodes, bool first,
                           const std::string& folder) {
  std::string line = "deft plan " + shell_word(scene.scene);
  const auto add = [&](const char* option, const std::string& value) {
    line += fmt::format(" {} {}", option, shell_word(value));
  };
  for (const std::string& overlay : scene.overlays) add("--with", overlay);
  for (const std::string& setting : scene.settings) add("--set", setting);
  for (const std::string& path : scene.package_paths) add("--package-path", path);
  if (scene.h) add("--h", *scene.h);
  if (scene.model) add("--model", *scene.model);
  if (scene.kappa) add("--kappa", *scene.kappa);
  if (nodes) add("--nodes", fmt::format("{}", *nodes));
  if (first) line += " --first";
  add("--resume", folder);
  return line;
}

}  // namespace deft::cli
