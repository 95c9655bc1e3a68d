#pragma once
// What an export wrote.

#include <string>
#include <vector>

namespace deft::exporters {

/// Files and remarks of one export.
struct Exported {
  std::vector<std::string> files;  // written, the one to open first
  std::vector<std::string> notes;  // what the format cannot hold, and what stands for it
};

}  // namespace deft::exporters
