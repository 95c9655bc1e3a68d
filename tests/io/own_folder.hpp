#pragma once
// Tests that write files.

#include <gtest/gtest.h>

#include <filesystem>

namespace deft::io {

/// An empty folder per test, named after it, removed after it.
class OwnFolder : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

}  // namespace deft::io
