#pragma once
// The simulators of other people that plants can be made of: which of them are here.

#include <string>
#include <vector>

namespace deft::plant {

/// A simulator, or why it is not there.
struct Simulator {
  std::string name;     // the word of --plant
  std::string version;  // empty: not there
  std::string place;    // library (mujoco), interpreter (drake)
  std::string missing;  // why it is not there, with how to install it
};
/// MuJoCo and Drake, looked for as their plants do. Loads the one and starts the other, which takes about a second.
std::vector<Simulator> find_simulators();

}  // namespace deft::plant
