#include "deft/core/log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace deft {
namespace log_test {

std::string contents(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Log : public testing::Test {
 protected:
  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / "deft_log_test.log";
  void TearDown() override {
    log::stop_file();
    log::set_level(log::Level::kInfo);
    std::filesystem::remove(file_);
  }
};

TEST_F(Log, WritesPlainLinesToStandardErrorOnly) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log::debug("hidden");
  log::info("gravity is {0 0 -10}");  // braces are text, not a format
  log::warning("friction 0.5 assumed");
  const std::string out = testing::internal::GetCapturedStdout(), err = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "info: gravity is {0 0 -10}\nwarning: friction 0.5 assumed\n");
}

TEST_F(Log, HonoursTheLevel) {
  log::set_level(log::Level::kError);
  testing::internal::CaptureStderr();
  log::warning("hidden");
  log::error("seen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: seen\n");

  log::set_level(log::Level::kOff);
  testing::internal::CaptureStderr();
  log::error("hidden");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Log, CopiesLinesToAFileWhateverTheScreenShows) {
  log::set_level(log::Level::kOff);
  log::start_file(file_.string());
  log::debug("too fine");
  log::info("step 12");
  log::stop_file();
  log::info("afterwards");
  const std::string text = contents(file_);
  EXPECT_NE(text.find("info: step 12\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("too fine"), std::string::npos);
  EXPECT_EQ(text.find("afterwards"), std::string::npos);
  log::start_file(file_.string(), true);
  log::info("goes on");
  log::stop_file();
  EXPECT_EQ(contents(file_).find(text), 0u) << "what was there stays";
  EXPECT_NE(contents(file_).find("info: goes on\n"), std::string::npos);
}

TEST_F(Log, RefusesAFileThatCannotBeOpened) {
  EXPECT_THROW(log::start_file("/dev/null/no_folder/run.log"), std::runtime_error);
}

}  // namespace log_test
}  // namespace deft
