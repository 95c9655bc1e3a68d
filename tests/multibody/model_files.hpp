#pragma once
// Model files for tests: written into a folder of their own that disappears with the test.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "deft/multibody/load_model.hpp"

namespace deft::multibody {

class ModelFiles : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string(test->test_suite_name()) + "." + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    folder_ = std::filesystem::canonical(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  /// The model in a file of that name and text; what was reported is in `lines_`, without the folder.
  std::optional<ModelSpec> load(const std::string& name, const std::string& text) {
    Diagnostics diagnostics;
    auto model = load_model(write(name, text), packages_, diagnostics);
    keep(diagnostics);
    return model;
  }
  void keep(const Diagnostics& diagnostics) {
    lines_.clear();
    for (const Diagnostic& d : diagnostics.all()) {
      std::string line = to_string(d);
      const std::string prefix = folder_.string() + "/";
      for (auto at = line.find(prefix); at != line.npos; at = line.find(prefix)) line.erase(at, prefix.size());
      lines_.push_back(line);
    }
  }

  std::filesystem::path folder_;
  PackageMap packages_;
  std::vector<std::string> lines_;
};

using Lines = std::vector<std::string>;

}  // namespace deft::multibody
