#include "deft/dynamics/complementarity/coulomb_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "deft/core/index.hpp"
#include "deft/math/block_parts.hpp"

namespace deft::dynamics {
namespace {

constexpr double kNoFriction = 1e-12;  // below it a contact is one row
constexpr double kNoLever = 1e-14;     // of the largest entry of a row: below it an entry is rounding of points a few
                                       // metres from the origin

/// Whether contact forces can move a velocity, or it is free; limits of other velocities have no effect.
bool has_mobility(const ForceResponse& response, int velocity) {
  if (std::binary_search(response.free.begin(), response.free.end(), velocity)) return true;
  const int k = block_at(response.factor, velocity);
  return k >= 0 && !response.factor.block(k).row(velocity - response.factor.start(k)).isZero(0);
}

}  // namespace

void ray_angles(int rays, std::vector<double>& cosines, std::vector<double>& sines) {
  cosines.resize(rays);
  sines.resize(rays);
  for (int k = 0; k < rays; ++k) {
    const double angle = 2 * std::numbers::pi * k / rays;
    const auto i = to_size(k);
    cosines[i] = 4 * k == rays || 4 * k == 3 * rays ? 0.0 : 2 * k == rays ? -1.0 : std::cos(angle);
    sines[i] = 2 * k == rays || k == 0 ? 0.0 : 4 * k == 3 * rays ? -1.0 : std::sin(angle);
  }
}

void CoulombRows::lay_out(const solvers::contact::ContactProgram& program, const ForceResponse& response) {
  ray_angles(program.rays, cosines_, sines_);
  contacts_.clear();
  limits_.clear();
  z_of_.clear();
  num_free_ = static_cast<int>(response.free.size());
  contact_of_.assign(response.free.size(), -1);
  limit_of_.assign(response.free.size(), -1);
  const auto add = [&](int contact, int limit) {
    contact_of_.push_back(contact);
    limit_of_.push_back(limit);
  };
  const auto add_direction = [&](int contact, int limit) {
    z_of_.push_back(static_cast<int>(contact_of_.size()));
    add(contact, limit);
  };
  for (int i = 0; i < program.J.size(); ++i) {
    const solvers::contact::ContactLaw& law = program.contacts[i];
    const bool slides = !law.frictionless && law.mu >= kNoFriction && program.J.rows(i) > 1;
    const int edges = law.frictionless || program.J.rows(i) == 1 ? 1 : program.rays;
    contacts_.push_back({static_cast<int>(contact_of_.size()), slides ? program.rays : 0, edges, law.mu});
    add_direction(i, -1);
    for (int j = 0; j < contacts_.back().rays; ++j) add_direction(i, -1);
    if (slides) add(i, -1);  // Γ acts along nothing
  }
  for (int v = 0; v < program.lower.size(); ++v) {
    if (!std::isfinite(program.lower(v)) && !std::isfinite(program.upper(v))) continue;
    if (!has_mobility(response, v)) continue;
    for (const double sign : {1.0, -1.0}) {
      if (!std::isfinite(sign > 0 ? program.lower(v) : program.upper(v))) continue;
      limits_.push_back({v, sign});
      add_direction(-1, v);
    }
  }
  size_ = static_cast<int>(contact_of_.size());
}

void CoulombRows::fill_directions(const solvers::contact::ContactProgram& program, const ForceResponse& response) {
  const auto m = static_cast<Eigen::Index>(z_of_.size());
  R_.setZero(m, program.nv);
  offset_.setZero(m);
  Eigen::Index r = 0;
  for (int i = 0; i < program.J.size(); ++i) {
    const auto J = program.J.block(i);
    const auto cols = program.J.cols(i);
    offset_(r) = program.contacts[i].gap;
    for (std::size_t c = 0; c < cols.size(); ++c) {
      const auto k = static_cast<Eigen::Index>(c);
      R_(r, cols[c]) = J(0, k);
      for (int j = 0; j < contacts_[i].rays; ++j) {
        const auto at = to_size(j);
        R_(r + 1 + j, cols[c]) = cosines_[at] * J(1, k) + (J.rows() > 2 ? sines_[at] * J(2, k) : 0.0);
      }
    }
    r += 1 + contacts_[i].rays;
  }
  for (const Limit& limit : limits_) {
    R_(r, limit.velocity) = limit.sign;
    offset_(r++) = limit.sign > 0 ? -program.lower(limit.velocity) : program.upper(limit.velocity);
  }
  G_.setZero(m, program.nv);
  for (int k = 0; k < response.factor.num_blocks(); ++k) {
    const int start = response.factor.start(k), n = response.factor.size(k);
    G_.middleCols(start, n) = R_.middleCols(start, n).lazyProduct(response.factor.block(k));
  }
}

void CoulombRows::build(const solvers::contact::ContactProgram& program, const ForceResponse& response,
                        bool with_motion, solvers::lcp::ComplementarityProgram& out) {
  lay_out(program, response);
  fill_directions(program, response);
  const Eigen::Index n = size_, m = R_.rows();
  out.M.setZero(n, n);
  out.q.resize(n);
  out.free.clear();
  for (Eigen::Index c = 0; c < m; ++c) {
    for (Eigen::Index r = 0; r <= c; ++r) {
      const int i = z_of_[r], k = z_of_[c];
      out.M(i, k) = out.M(k, i) = G_.row(r).dot(G_.row(c));
    }
  }
  for (Eigen::Index r = 0; r < m; ++r) out.q(z_of_[r]) = offset_(r) + R_.row(r).dot(response.drift);
  // Where nothing but contacts resists, a lever of rounding would decide: a ball that turns freely would carry no load.
  for (Eigen::Index r = 0; r < m && num_free_ > 0; ++r) {
    const double least = kNoLever * R_.row(r).lpNorm<Eigen::Infinity>();
    for (const int v : response.free)
      if (std::abs(R_(r, v)) <= least) R_(r, v) = 0;
  }
  for (int k = 0; k < num_free_; ++k) {
    const int v = response.free[k];
    out.free.push_back(k);
    out.q(k) = response.load(v);
    for (Eigen::Index r = 0; r < m; ++r) {
      out.M(z_of_[r], k) = R_(r, v);
      out.M(k, z_of_[r]) = -R_(r, v);
    }
  }
  for (std::size_t i = 0; i < contacts_.size(); ++i) {
    const ContactRows& contact = contacts_[i];
    out.M(contact.first, contact.first) += program.contacts[i].compliance;
    if (contact.rays == 0) continue;
    const int slip = contact.first + 1 + contact.rays;
    out.q(slip) = 0;
    out.M(slip, contact.first) = contact.mu;
    for (int j = contact.first + 1; j < slip; ++j) out.M(j, slip) = 1, out.M(slip, j) = -1;
  }
  out.motion.resize(0, 0);
  if (with_motion) fill_motion(response, out.motion);
}

void CoulombRows::fill_motion(const ForceResponse& response, Eigen::MatrixXd& motion) const {
  int rows = num_free_;
  for (int k = 0; k < response.factor.num_blocks(); ++k) rows += response.factor.size(k);
  motion.setZero(std::max(rows, 1), size_);  // nothing moves by itself: one row of zeros, every motion is the same
  int at = 0;
  for (; at < num_free_; ++at) motion(at, at) = 1;
  for (int k = 0; k < response.factor.num_blocks(); ++k) {
    const auto F = response.factor.block(k);
    const auto G = G_.middleCols(response.factor.start(k), F.rows());
    for (Eigen::Index i = 0; i < F.rows(); ++i, ++at)
      for (Eigen::Index r = 0; r < G.rows(); ++r) motion(at, z_of_[r]) = G.row(r).dot(F.row(i));
  }
}

void CoulombRows::motion(const ForceResponse& response, const Eigen::VectorXd& z, Eigen::VectorXd& delta) {
  push_.setZero(R_.cols());
  for (Eigen::Index r = 0; r < R_.rows(); ++r) {
    const double force = z(z_of_[r]);
    if (force != 0) push_ += force * R_.row(r).transpose();
  }
  response.apply_mobility(push_);
  delta = response.drift + push_;
  for (int k = 0; k < num_free_; ++k) delta(response.free[k]) = z(k);
}

double CoulombRows::share_within(const ContactRows& rows, const Eigen::VectorXd& z) {
  const double limit = std::max(rows.mu * z(rows.first), 0.0), sum = z.segment(rows.first + 1, rows.rays).sum();
  return sum > limit ? limit / sum : 1;
}

std::array<double, 4> CoulombRows::force(int contact, const Eigen::VectorXd& z) const {
  const ContactRows& rows = contacts_[contact];
  std::array<double, 4> f{z(rows.first), 0, 0, 0};
  const double share = share_within(rows, z);
  for (int j = 0; j < rows.rays; ++j) {
    const double beta = share * z(rows.first + 1 + j);
    f[1] += cosines_[j] * beta;
    if (rows.rays > 2) f[2] += sines_[j] * beta;
  }
  return f;
}

void CoulombRows::append_pyramid(int contact, const Eigen::VectorXd& z, std::vector<double>& multipliers) const {
  const ContactRows& rows = contacts_[contact];
  if (rows.rays == 0) {
    multipliers.insert(multipliers.end(), to_size(rows.edges), z(rows.first) / rows.edges);
    return;
  }
  const double share = share_within(rows, z) / rows.mu;
  const double left = std::max(0.0, z(rows.first) - share * z.segment(rows.first + 1, rows.rays).sum());
  for (int j = 0; j < rows.rays; ++j) multipliers.push_back(share * z(rows.first + 1 + j) + left / rows.rays);
}

void CoulombRows::add_limits(const Eigen::VectorXd& z, Eigen::VectorXd& multipliers) const {
  Eigen::Index at = size_ - static_cast<Eigen::Index>(limits_.size());
  for (const Limit& limit : limits_) multipliers(limit.velocity) += limit.sign * z(at++);
}

}  // namespace deft::dynamics
