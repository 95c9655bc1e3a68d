#pragma once
// How a polyhedral contact becomes single rows: their number, directions and weights.

#include <vector>

#include "deft/solvers/contact/program/contact_program.hpp"

namespace deft::solvers::contact {

/// Rows of one contact: slack k is φ + nδ + μ (c_k (t₁δ + o₁) + s_k (t₂δ + o₂)) + R λ_k.
struct RayLayout {
  int rows = 1;             // of J that count
  int slacks = 1;           // 1, 2 (one tangent: c = ±1) or rays
  double mu = 0.0;          // times e_t where there is one tangent
  double weight = 1.0;      // barrier weight of each slack
  double compliance = 0.0;  // R
  int shares = 1;           // rays of the contact that one slack stands for: without friction they coincide
};

/// Layout of contact i, or slacks = 0 where it is a second-order cone in space.
inline RayLayout ray_layout(const ContactProgram& program, int i) {
  constexpr double kNoFriction = 1e-12;  // below it a contact is one row
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

/// Fills cosines and sines of 2πk/rays, k = 0 … rays − 1; quarter turns are exact, so that symmetric problems stay
/// symmetric. Allocates only while `rays` grows.
void ray_directions(int rays, std::vector<double>& cosines, std::vector<double>& sines);

}  // namespace deft::solvers::contact
