#include "deft/math/uniform_pressure.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace deft {
namespace {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::Vector2d;
using Eigen::Vector3d;

/// Distance of the centre of rotation from the centroid, in sizes of the patch, beyond which integrals are taken by
/// quadrature: closed forms lose its square in digits, and the quadrature's error falls with its twelfth power.
constexpr double kFar = 10;

/// Gauss and Legendre on [0, 1], six points.
constexpr std::array<double, 6> kNode{0.033765242898423986, 0.169395306766867743, 0.380690406958401546,
                                      0.619309593041598454, 0.830604693233132257, 0.966234757101576014};
constexpr std::array<double, 6> kWeight{0.085662246189585173, 0.180380786524069303, 0.233956967286345524,
                                        0.233956967286345524, 0.180380786524069303, 0.085662246189585173};

/// e × a in the plane.
Vector2d turned(const Vector2d& a) { return {-a.y(), a.x()}; }
double cross(const Vector2d& a, const Vector2d& b) { return a.x() * b.y() - a.y() * b.x(); }

double signed_area(const std::vector<Vector2d>& corners) {
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) twice += cross(corners[i], corners[(i + 1) % corners.size()]);
  return 0.5 * twice;
}

/// Twists and loads about the centroid: V_c = T V, F = Tᵀ F_c.
Matrix3d shift_to(const Vector2d& centroid) {
  Matrix3d T = Matrix3d::Identity();
  T.block<2, 1>(0, 2) = turned(centroid);
  return T;
}

}  // namespace

UniformPressure::UniformPressure(std::vector<Vector2d> polygon, double friction_N) : corners_(std::move(polygon)) {
  if (corners_.size() < 3) throw std::invalid_argument("a support needs at least three corners");
  if (!(friction_N > 0) || !std::isfinite(friction_N))
    throw std::invalid_argument("the friction of a support must be positive and finite");
  // About the first corner, so that supports far from their origin lose nothing.
  const Vector2d first = corners_[0];
  for (Vector2d& corner : corners_) corner -= first;
  double area = signed_area(corners_);
  if (area < 0) {
    std::reverse(corners_.begin(), corners_.end());
    area = -area;
  }
  Vector2d centroid = Vector2d::Zero();
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Vector2d &a = corners_[i], &b = corners_[(i + 1) % corners_.size()];
    centroid += cross(a, b) / (6 * area) * (a + b);
  }
  size_ = 0;
  for (Vector2d& corner : corners_) {
    corner -= centroid;
    size_ = std::max(size_, corner.norm());
  }
  if (!(area > 1e-12 * size_ * size_) || !std::isfinite(area))
    throw std::invalid_argument("a support needs an area, but its corners lie on one line");
  centroid_ = first + centroid;
  double second = 0;  // ∫|r|² dA
  for (Vector2d& corner : corners_) corner /= size_;
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Vector2d &a = corners_[i], &b = corners_[(i + 1) % corners_.size()];
    second += cross(a, b) * (a.squaredNorm() + a.dot(b) + b.squaredNorm()) / 12;
  }
  const double scaled_area = area / (size_ * size_);
  gyration_ = std::sqrt(second / scaled_area);
  pressure_ = friction_N / scaled_area;
}

/// The twist about the centroid in scaled lengths: (v, ω size); and of norm 1.
Vector3d UniformPressure::shifted(const Vector3d& V) const {
  Vector3d W = shift_to(centroid_) * V;
  W(2) *= size_;
  return W;
}
Vector3d UniformPressure::scaled(const Vector3d& V) const { return shifted(V).stableNormalized(); }

/// With w = v + ω e×r = ω e×ϱ, ϱ = r − c about the centre of rotation c = e×v/ω, and ϱ̂ = ϱ/|ϱ|, the divergence theorem
/// gives
///   ∫|ϱ| = ⅓∮|ϱ|ϱ·n,  ∫ϱ̂ = ∮|ϱ|n,  ∫1/|ϱ| = ∮ϱ̂·n,  ∫ϱ̂ϱ̂ᵀ/|ϱ| = (∫1/|ϱ|)1 − ∮ϱ̂nᵀ,
/// and along an edge at the distance d, ϱ = dn + st: ∫|ϱ|ds = ½[sR + d² asinh(s/d)], ∫ds/R = [asinh(s/d)], ∫s ds/R =
/// [R].
void UniformPressure::add_closed_form(const Vector3d& V, Moments& m) const {
  const double omega = V(2), turn = std::abs(omega);
  const Vector2d c = turned(V.head<2>()) / omega;
  double distance = 0, inverse = 0;  // ∫|ϱ|, ∫1/|ϱ|
  Vector2d direction = Vector2d::Zero();
  Matrix2d boundary = Matrix2d::Zero();  // ∮ϱ̂nᵀ
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Vector2d a = corners_[i] - c, b = corners_[(i + 1) % corners_.size()] - c;
    const double length = (b - a).norm();
    if (length == 0) continue;
    const Vector2d t = (b - a) / length, n{t.y(), -t.x()};
    const double d = n.dot(a), s1 = t.dot(a), s2 = t.dot(b), R1 = a.norm(), R2 = b.norm();
    const double arc = std::abs(d) < 1e-200 ? 0.0 : std::asinh(s2 / std::abs(d)) - std::asinh(s1 / std::abs(d));
    const double along = 0.5 * (s2 * R2 - s1 * R1 + d * d * arc);
    distance += d * along / 3;
    direction += along * n;
    inverse += d * arc;
    boundary += (d * arc * n + (R2 - R1) * t) * n.transpose();
  }
  Matrix2d N = inverse * Matrix2d::Identity() - boundary;
  N = 0.5 * (N + N.transpose()).eval();
  const double sign = omega > 0 ? 1 : -1;
  m.D = turn * distance;
  m.F.head<2>() = sign * turned(direction);
  m.F(2) = sign * distance + cross(c, m.F.head<2>());
  // ŵŵᵀ is what ϱ̂ϱ̂ᵀ leaves of 1, and ϱ̂ϱ̂ᵀ e×r = ϱ̂ϱ̂ᵀ e×c.
  const Vector2d lever = turned(c);
  m.curvature.topLeftCorner<2, 2>() = N / turn;
  m.curvature.block<2, 1>(0, 2) = N * lever / turn;
  m.curvature(2, 2) = lever.dot(N * lever) / turn;
  m.weight.topLeftCorner<2, 2>() = inverse / turn * Matrix2d::Identity();
  m.weight.block<2, 1>(0, 2) = turned(c * inverse + direction) / turn;
  m.weight(2, 2) = (c.squaredNorm() * inverse + 2 * c.dot(direction) + distance) / turn;
}

/// The triangles from the centroid to the edges, with sign; each as the image of the unit square.
void UniformPressure::add_quadrature(const Vector3d& V, Moments& m) const {
  for (std::size_t i = 0; i < corners_.size(); ++i) {
    const Vector2d &a = corners_[i], &b = corners_[(i + 1) % corners_.size()];
    const double twice_area = cross(a, b);
    for (std::size_t j = 0; j < kNode.size(); ++j) {
      for (std::size_t k = 0; k < kNode.size(); ++k) {
        const double dA = kWeight[j] * kWeight[k] * kNode[j] * twice_area;
        const Vector2d r = kNode[j] * (a + kNode[k] * (b - a));
        Eigen::Matrix<double, 2, 3> G = Eigen::Matrix<double, 2, 3>::Identity();
        G.col(2) = turned(r);
        const Vector2d w = G * V;
        const double speed = w.norm();
        const Vector2d along = w / speed;
        m.D += dA * speed;
        m.F += dA * G.transpose() * along;
        m.curvature += dA / speed * G.transpose() * (Matrix2d::Identity() - along * along.transpose()) * G;
        m.weight += dA / speed * G.transpose() * G;
      }
    }
  }
}

UniformPressure::Moments UniformPressure::moments(const Vector3d& V) const {
  Moments m;
  if (V.head<2>().norm() > kFar * std::abs(V(2)))
    add_quadrature(V, m);
  else
    add_closed_form(V, m);
  for (Matrix3d* K : {&m.curvature, &m.weight}) {
    K->block<1, 2>(2, 0) = K->block<2, 1>(0, 2).transpose();
    *K *= pressure_;
  }
  m.D *= pressure_;
  m.F *= pressure_;
  return m;
}

Matrix3d UniformPressure::unscaled(const Matrix3d& K) const {
  Matrix3d S = shift_to(centroid_);
  S.row(2) *= size_;
  return S.transpose() * K * S;
}

double UniformPressure::dissipation(const Vector3d& V) const { return V.isZero(0) ? 0.0 : load(V).dot(V); }

Vector3d UniformPressure::load(const Vector3d& V) const {
  if (V.isZero(0)) return Vector3d::Zero();
  Vector3d F = moments(scaled(V)).F;
  F(2) *= size_;
  return shift_to(centroid_).transpose() * F;
}

Matrix3d UniformPressure::hessian(const Vector3d& V) const {
  const Moments m = moments(scaled(V));
  return unscaled(m.F * m.F.transpose() + m.D * m.curvature);
}

Matrix3d UniformPressure::majorizer(const Vector3d& V) const {
  const Moments m = moments(scaled(V));
  return unscaled(m.D * m.weight);
}

Matrix3d UniformPressure::typical() const {
  const double friction = pressure_ * signed_area(corners_);
  return unscaled(friction * friction * Vector3d(1, 1, gyration_ * gyration_).asDiagonal().toDenseMatrix());
}

double UniformPressure::direction_error(const Vector3d& V1, const Vector3d& V2) const {
  return V1.isZero(0) || V2.isZero(0) ? 0.0 : (scaled(V1) - scaled(V2)).norm();
}

Vector3d UniformPressure::twist(const Vector3d& F) const {
  if (F.isZero(0)) return Vector3d::Zero();
  SupportIteration iteration(*this);
  Vector3d V = iteration.K().ldlt().solve(F);
  for (int k = 0; k < 200 && !iteration.update(V, 0, 1e-12); ++k) V = iteration.K().ldlt().solve(F);
  return V;
}

void SupportIteration::restart() {
  last_error_ = 2;
  newton_ = false;
  trust_ = 0.1;
}

bool SupportIteration::update(const Vector3d& V, double rest, double tolerance) {
  const double speed = support_->speed(V);
  if (!(speed > rest)) return true;
  const double error = at_.isZero(0) ? 2.0 : support_->direction_error(V, at_);
  if (error <= tolerance) return true;
  // After a step of Newton's method that did not help, it is used closer to the solution only.
  if (newton_ && error > 0.5 * last_error_) trust_ *= 0.1;
  newton_ = error < trust_ || (!newton_ && error < 0.3 && trust_ > 0.05);
  K_ = newton_ ? support_->hessian(V) : support_->majorizer(V);
  at_ = V;
  last_error_ = error;
  return false;
}

}  // namespace deft
