#include "deft/io/runs/run_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "deft/core/diagnostics.hpp"
#include "io/run_folder_support.hpp"

namespace deft::io {
namespace run_folder_test {

TEST_F(RunFolder, RefusesAFolderInUseUnlessForced) {
  const std::string folder = path("run");
  EXPECT_EQ(make_run_folder(folder, "ball", false), folder);
  EXPECT_EQ(make_run_folder(folder, "ball", false), folder);
  std::ofstream(folder + "/run.h5") << "old";
  std::ofstream(folder + "/notes.txt") << "mine";
  EXPECT_THROW(make_run_folder(folder, "ball", false), InputError);
  EXPECT_EQ(make_run_folder(folder, "ball", true), folder);
  EXPECT_FALSE(fs::exists(folder + "/run.h5"));
  EXPECT_TRUE(fs::exists(folder + "/notes.txt"));
  EXPECT_THROW(make_run_folder(folder + "/notes.txt", "ball", true), InputError);
}

TEST_F(RunFolder, NamesDefaultFoldersBySceneAndTimeEachItsOwn) {
  const fs::path before = fs::current_path();
  fs::current_path(path());
  const std::string first = make_run_folder("", "two spheres/x", false),
                    second = make_run_folder("", "two spheres/x", false);
  fs::current_path(before);
  EXPECT_EQ(first.rfind("out/two_spheres_x-20", 0), 0u) << first;
  EXPECT_NE(first, second);
  EXPECT_TRUE(fs::is_directory(folder_ / first));
  EXPECT_TRUE(fs::is_directory(folder_ / second));
}

TEST_F(RunFolder, PublishesTextWholeOrNotAtAll) {
  publish_text(path("a.txt"), "first");
  publish_text(path("a.txt"), "second");
  std::ifstream in(path("a.txt"));
  std::string text;
  in >> text;
  EXPECT_EQ(text, "second");
  EXPECT_THROW(publish_text(path("no/such/folder/a.txt"), "x"), std::runtime_error);
}

}  // namespace run_folder_test
}  // namespace deft::io
