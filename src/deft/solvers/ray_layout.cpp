#include "deft/solvers/ray_layout.hpp"

#include <cmath>
#include <numbers>

namespace deft::solvers {
namespace {

constexpr double kNoFriction = 1e-12;  // below it a contact is one row

}  // namespace

RayLayout ray_layout(const ContactProgram& program, int i) {
  const ContactLaw& law = program.contacts[i];
  const bool pyramid = !is_cone(program, i);
  const int raw_rows = program.J.rows(i);
  RayLayout out;
  out.compliance = law.compliance;
  if (law.frictionless || raw_rows == 1) {
    out.weight = law.frictionless ? 1 : pyramid ? program.rays : 2;
  } else if (law.mu < kNoFriction) {
    out.shares = pyramid ? (raw_rows == 2 ? 2 : program.rays) : 1;
    out.weight = pyramid ? out.shares : 2;
    // The n_d rays coincide and share the force: f = n_d β, so the compliance per force is R/n_d.
    out.compliance /= out.shares;
  } else if (raw_rows == 2) {
    // One tangent: a cone is the two rays ±t, and log(s_n² − s_t²) the sum of their logs.
    out.rows = out.slacks = 2;
    out.mu = law.mu * law.ellipsoid[0];
    if (!pyramid) out.compliance *= 2;
  } else if (pyramid) {
    out.rows = 3;
    out.slacks = program.rays;
    out.mu = law.mu;
  } else {
    out.slacks = 0;
  }
  return out;
}

void ray_directions(int rays, std::vector<double>& cosines, std::vector<double>& sines) {
  cosines.resize(rays);
  sines.resize(rays);
  for (int k = 0; k < rays; ++k) {
    const double angle = 2 * std::numbers::pi * k / rays;
    cosines[k] = 4 * k == rays || 4 * k == 3 * rays ? 0.0 : 2 * k == rays ? -1.0 : std::cos(angle);
    sines[k] = 2 * k == rays || k == 0 ? 0.0 : 4 * k == 3 * rays ? -1.0 : std::sin(angle);
  }
}

}  // namespace deft::solvers
