#include "synthetic_patches.hpp"

#include <cmath>
#include <numbers>

namespace deft::viewer {
namespace {

using dynamics::ContactKind;
using dynamics::ContactRecord;
using dynamics::ContactState;
using Vec3 = std::array<double, 3>;

constexpr double kHalf = 0.05;  // as in synthetic_run.cpp

/// R = R_y(b) R_x(a).
Vec3 turned(double a, double b, const Vec3& p) {
  const double y = std::cos(a) * p[1] - std::sin(a) * p[2], z = std::sin(a) * p[1] + std::cos(a) * p[2];
  return {std::cos(b) * p[0] + std::sin(b) * z, y, -std::sin(b) * p[0] + std::cos(b) * z};
}

ContactRecord patch(int body, ContactKind kind, const Vec3& point_W, bool slides) {
  ContactRecord contact{.a = body, .b = 0};
  contact.point_W = point_W;
  contact.normal_W = {0, 0, 1};
  contact.mu = 0.5;
  contact.kind = kind;
  contact.tangent_W = {1, 0, 0};
  contact.ellipsoid = {1, 0.5, 0.02};
  const double fn = 4.9, used = slides ? 1 : 0.4, limit = used * contact.mu * fn;
  contact.force_W = {kPatchDirection[0] * limit, kPatchDirection[1] * 0.5 * limit, fn};
  contact.torque_W = {0, 0, kPatchDirection[2] * 0.02 * limit};
  if (slides) contact.slip = {0.2, -0.1, 1.5};
  contact.state = slides ? ContactState::kSlide : ContactState::kStick;
  return contact;
}

}  // namespace

void add_patches(dynamics::Trajectory& run) {
  run.has_contact_kinds = true;
  run.contacts.clear();
  run.contact_offset = {0};
  for (std::size_t k = 0; k < run.t.size(); ++k) {
    const double s = static_cast<double>(k);
    const double a = k < 20 ? 0.4 * (1 - s / 20) : 0, b = k < 20 ? 0.5 : k < 40 ? 0.5 * (1 - (s - 20) / 20) : 0;
    const bool flies = k >= 45 && k < 50;
    const Vec3 corner = turned(a, b, {kHalf, -kHalf, -kHalf});
    const Vec3 origin = {0.1 * s / 60, 0, -corner[2] + (flies ? 0.02 : 0)};
    // (cos b/2 + j sin b/2)(cos a/2 + i sin a/2)
    const double ca = std::cos(a / 2), sa = std::sin(a / 2), cb = std::cos(b / 2), sb = std::sin(b / 2);
    run.X_WB[k][2] = {ca * cb, sa * cb, ca * sb, -sa * sb, origin[0], origin[1], origin[2]};
    if (k == 0) continue;
    const double way = 2 * std::numbers::pi * (s - 40) / 20;
    const Vec3 on_box = k < 20   ? Vec3{kHalf, -kHalf, -kHalf}
                        : k < 40 ? Vec3{kHalf, -0.04 + 0.08 * (s - 20) / 20, -kHalf}
                                 : Vec3{0.03 * std::cos(way), 0.03 * std::sin(way), -kHalf};
    const Vec3 arm = turned(a, b, on_box);
    const ContactKind kind = k < 20 ? ContactKind::kPoint : k < 40 ? ContactKind::kLine : ContactKind::kSurface;
    if (!flies) run.contacts.push_back(patch(2, kind, {origin[0] + arm[0], origin[1] + arm[1], 0}, k >= 10 && k < 30));
    if (run.names_bodies.size() > 3) {
      const auto& X = run.X_WB[k][3];
      run.contacts.push_back(patch(3, ContactKind::kSurface, {X[4], X[5], 0}, false));
    }
    run.contact_offset.push_back(run.contacts.size());
  }
}

}  // namespace deft::viewer
