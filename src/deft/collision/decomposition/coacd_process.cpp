#include "deft/collision/decomposition/coacd_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "deft/core/process.hpp"
#include "deft/core/resources.hpp"

namespace deft::collision {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstall = "install it with 'python -m pip install coacd==" DEFT_COACD_VERSION
                                 "', or set DEFT_COACD_PYTHON to a Python interpreter that has it";

/// A folder for the two files, of this call alone, gone at the end.
struct Exchange {
  Exchange() {
    std::string name = (fs::temp_directory_path() / "deft_coacd_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error(fmt::format("no folder can be made in '{}'", fs::temp_directory_path().string()));
    folder = name;
  }
  ~Exchange() {
    std::error_code gone;
    fs::remove_all(folder, gone);
  }
  fs::path folder;
};

/// Counts of corners and triangles, then both: 64-bit integers, doubles, 32-bit integers.
void write(const TriangleMesh& mesh, const fs::path& file) {
  std::ofstream out(file, std::ios::binary);
  const std::int64_t counts[2] = {static_cast<std::int64_t>(mesh.vertices.size() / 3),
                                  static_cast<std::int64_t>(mesh.triangles.size() / 3)};
  out.write(reinterpret_cast<const char*>(counts), sizeof counts);
  out.write(reinterpret_cast<const char*>(mesh.vertices.data()),
            static_cast<std::streamsize>(mesh.vertices.size() * sizeof(double)));
  out.write(reinterpret_cast<const char*>(mesh.triangles.data()),
            static_cast<std::streamsize>(mesh.triangles.size() * sizeof(int)));
  out.close();
  if (!out) throw std::runtime_error(fmt::format("'{}' cannot be written", file.string()));
}

/// As many meshes as the first integer says, each as `write` has it.
std::vector<TriangleMesh> read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::int64_t parts = 0;
  in.read(reinterpret_cast<char*>(&parts), sizeof parts);
  std::vector<TriangleMesh> meshes;
  for (std::int64_t k = 0; k < parts && in; ++k) {
    std::int64_t counts[2] = {};
    in.read(reinterpret_cast<char*>(counts), sizeof counts);
    if (!in) break;
    TriangleMesh& mesh = meshes.emplace_back();
    mesh.vertices.resize(static_cast<std::size_t>(3 * counts[0]));
    mesh.triangles.resize(static_cast<std::size_t>(3 * counts[1]));
    in.read(reinterpret_cast<char*>(mesh.vertices.data()),
            static_cast<std::streamsize>(mesh.vertices.size() * sizeof(double)));
    in.read(reinterpret_cast<char*>(mesh.triangles.data()),
            static_cast<std::streamsize>(mesh.triangles.size() * sizeof(int)));
  }
  if (!in) throw std::runtime_error("what CoACD's process wrote is cut short");
  return meshes;
}

}  // namespace

std::vector<TriangleMesh> ask_coacd(const TriangleMesh& mesh, const multibody::DecompositionSpec& how) {
  const std::string python = find_python("coacd", "DEFT_COACD_PYTHON", resource(".venv/bin/python"), kInstall);
  const Exchange exchange;
  const fs::path in = exchange.folder / "mesh", out = exchange.folder / "parts";
  write(mesh, in);
  const int errors = memfd_create("coacd", MFD_CLOEXEC);
  const int pid = spawn({python, resource("src/deft/collision/decomposition/coacd_parts.py"), in.string(), out.string(),
                         fmt::format("{}", how.concavity), fmt::format("{}", how.parts), DEFT_COACD_VERSION},
                        -1, errors, errors);
  const int status = pid > 0 ? wait_for_end(pid) : -1;
  const std::string words = status == 0 ? std::string() : last_words(errors);
  close(errors);
  if (status != 0) throw std::runtime_error(fmt::format("CoACD ({}) failed on the mesh; {}", python, words));
  return read(out);
}

}  // namespace deft::collision
