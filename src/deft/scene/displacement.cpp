#include "deft/scene/displacement.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "deft/math/rotation.hpp"

namespace deft::scene {

void difference(const multibody::Model& model, const Eigen::VectorXd& q0, const Eigen::VectorXd& q1,
                Eigen::VectorXd& delta) {
  if (q0.size() != model.nq() || q1.size() != model.nq())
    throw std::invalid_argument(
        fmt::format("difference: q0 has {} entries, q1 {}, the model needs {}", q0.size(), q1.size(), model.nq()));
  delta.resize(model.nv());
  // Joints come in the same order in q and in velocities: a turn without coordinates of its own has the next
  // quaternion.
  const auto velocities = model.velocities();
  int q = 0;
  for (int v = 0; v < model.nv(); ++v) {
    const int coordinate = velocities[v].q_index;
    if (coordinate >= 0) {
      delta(v) = q1(coordinate) - q0(coordinate);
      q = coordinate + 1;
      continue;
    }
    const Eigen::Matrix3d R0 = rotation_from_quat_wxyz(q0.segment<4>(q)),
                          R1 = rotation_from_quat_wxyz(q1.segment<4>(q));
    delta.segment<3>(v) = log_so3(R1 * R0.transpose());
    q += 4;
    v += 2;
  }
}

}  // namespace deft::scene
