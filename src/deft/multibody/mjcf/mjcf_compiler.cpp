#include "deft/multibody/mjcf/mjcf_compiler.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <numbers>

namespace deft::multibody::mjcf {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

void read_euler_sequence(const Element& element, Compiler& compiler, const Values& values) {
  const std::string sequence = values.text(element, "eulerseq", compiler.euler);
  if (sequence.size() == 3 && sequence.find_first_not_of("xyzXYZ") == sequence.npos)
    compiler.euler = sequence;
  else
    values.error(element,
                 fmt::format("<compiler>: eulerseq '{}' is unknown; valid: three of x, y, z, X, Y, Z", sequence));
}

void read_group_range(const Element& element, Compiler& compiler, const Values& values) {
  const auto range = values.numbers(element, "inertiagrouprange", 2, 2);
  if (!range) return;
  compiler.first_group = static_cast<int>((*range)[0]);
  compiler.last_group = static_cast<int>((*range)[1]);
}

Matrix3d from_euler(const Vector3d& angles, const Compiler& compiler) {
  Matrix3d R = Matrix3d::Identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = compiler.euler[i];
    const int axis = std::tolower(static_cast<unsigned char>(letter)) - 'x';
    const Matrix3d turn = exp_so3(compiler.angle(angles[i]) * Vector3d::Unit(axis));
    R = std::islower(static_cast<unsigned char>(letter)) ? Matrix3d(R * turn) : Matrix3d(turn * R);
  }
  return R;
}

bool has_direction(const Vector3d& v) { return v.norm() > 0; }

}  // namespace

double Compiler::angle(double value) const { return degrees ? value * std::numbers::pi / 180 : value; }

Compiler read_compiler(const Element& root, const Values& values) {
  Compiler compiler;
  root.for_each("compiler", [&](const Element& element) {
    compiler.degrees = values.keyword(element, "angle", {"radian", "degree"}, compiler.degrees ? 1 : 0) == 1;
    compiler.autolimits = values.boolean(element, "autolimits", compiler.autolimits);
    compiler.strip_path = values.boolean(element, "strippath", compiler.strip_path);
    compiler.balance_inertia = values.boolean(element, "balanceinertia", compiler.balance_inertia);
    compiler.mesh_folder = values.text(element, "assetdir", compiler.mesh_folder);
    compiler.mesh_folder = values.text(element, "meshdir", compiler.mesh_folder);
    compiler.inertia = static_cast<InertiaFrom>(
        values.keyword(element, "inertiafromgeom", {"false", "true", "auto"}, static_cast<int>(compiler.inertia)));
    compiler.bound_mass = values.number(element, "boundmass", compiler.bound_mass);
    compiler.bound_inertia = values.number(element, "boundinertia", compiler.bound_inertia);
    compiler.total_mass = values.number(element, "settotalmass", compiler.total_mass);
    read_euler_sequence(element, compiler, values);
    read_group_range(element, compiler, values);
    if (values.keyword(element, "coordinate", {"local", "global"}, 0) == 1)
      values.error(element,
                   "coordinate=\"global\" is not read, nor by MuJoCo since 2.3.4: poses are those in the parent");
  });
  return compiler;
}

Matrix3d rotation_from_z_to(const Vector3d& direction) {
  const Vector3d to = direction.normalized();
  const Vector3d axis = Vector3d::UnitZ().cross(to);
  const double sine = axis.norm();
  constexpr double kParallel = 1e-10;
  if (sine < kParallel) return to.z() > 0 ? Matrix3d::Identity() : exp_so3(std::numbers::pi * Vector3d::UnitX());
  return exp_so3(std::atan2(sine, to.z()) / sine * axis);
}

RigidTransform pose_between(const Vector3d& from, const Vector3d& to) {
  return make_transform(rotation_from_z_to(from - to), 0.5 * (from + to));
}

Matrix3d read_orientation(const Element& element, const Compiler& compiler, const Values& values) {
  int ways = 0;
  Matrix3d R = Matrix3d::Identity();
  const auto refuse_zero = [&](const char* name) {
    values.error(element, fmt::format("<{}>: {} has no direction: it is zero", element.tag, name));
  };
  const auto read = [&](const char* name, std::size_t count, auto use) {
    if (element.find(name) == nullptr) return;
    ++ways;
    if (const auto v = values.numbers(element, name, count, count)) use(*v);
  };
  read("quat", 4, [&](const std::vector<double>& v) {
    const Eigen::Vector4d quat(v.data());
    if (quat.norm() > 0)
      R = rotation_from_quat_wxyz(quat);
    else
      refuse_zero("quat");
  });
  read("axisangle", 4, [&](const std::vector<double>& v) {
    const Vector3d axis(v.data());
    if (has_direction(axis))
      R = exp_so3(compiler.angle(v[3]) * axis.normalized());
    else
      refuse_zero("axisangle");
  });
  read("euler", 3, [&](const std::vector<double>& v) { R = from_euler(Vector3d(v.data()), compiler); });
  read("xyaxes", 6, [&](const std::vector<double>& v) {
    const Vector3d x = Vector3d(v.data()).normalized();
    const Vector3d y = Vector3d(v.data() + 3) - x.dot(Vector3d(v.data() + 3)) * x;
    if (!has_direction(x) || !has_direction(y)) return refuse_zero("xyaxes");
    R << x, y.normalized(), x.cross(y.normalized());
  });
  read("zaxis", 3, [&](const std::vector<double>& v) {
    if (has_direction(Vector3d(v.data())))
      R = rotation_from_z_to(Vector3d(v.data()));
    else
      refuse_zero("zaxis");
  });
  if (ways > 1)
    values.error(element, fmt::format("<{}> states its orientation in {} ways; one is allowed", element.tag, ways));
  return R;
}

RigidTransform read_pose(const Element& element, const Compiler& compiler, const Values& values) {
  return make_transform(read_orientation(element, compiler, values), values.vector(element, "pos", Vector3d::Zero()));
}

}  // namespace deft::multibody::mjcf
