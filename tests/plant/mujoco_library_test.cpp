// The interface to MuJoCo: missing files and functions are reported, and its fatal errors are exceptions.
#ifdef DEFT_HAS_MUJOCO
#include "deft/plant/mujoco_library.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "plant/plant_worlds.hpp"

namespace deft::plant {
namespace mujoco_library_test {

std::string failure(const std::string& path) {
  try {
    load_mujoco(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(MujocoLibrary, SaysWhatIsMissingAndHowToInstallIt) {
  for (const char* path : {"/nowhere/libmujoco.so.4.0.0", "libm.so.6"}) {
    EXPECT_NE(failure(path).find("pip install mujoco-core==4.0.0"), std::string::npos) << failure(path);
    EXPECT_NE(failure(path).find("DEFT_MUJOCO_LIBRARY"), std::string::npos);
    EXPECT_NE(failure(path).find(path), std::string::npos);
  }
}

TEST(MujocoLibrary, ItsErrorsAreExceptionsInEveryThread) {
  std::error_code none;
  const auto before = std::filesystem::last_write_time("MUJOCO_LOG.TXT", none);  // another program's, if there is one
  EXPECT_THROW(mujoco().mju_error("on %s", "purpose"), MujocoError);
  std::vector<std::thread> threads;
  std::atomic<int> caught = 0;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        try {
          mujoco().mju_error("on purpose");
        } catch (const MujocoError& error) {
          caught += std::string(error.what()).find("on purpose") != std::string::npos;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(caught, 400);
  EXPECT_EQ(std::filesystem::last_write_time("MUJOCO_LOG.TXT", none), before);
}

}  // namespace mujoco_library_test
}  // namespace deft::plant
#endif
