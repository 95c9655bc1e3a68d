#include "deft/contact/redundant_contacts.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace deft::contact {
namespace {

constexpr double kSameFrame = 1e-12;  // entries of n and t₁
constexpr double kFlat = 1e-12;       // [m] off the plane, off the line, off the border: rounding
constexpr double kThin = 1e-3;        // a patch that is narrower for its length is left as it is
constexpr double kGrid = 1e-10;       // [m] points this close along the patch are sorted across it

bool share_a_frame(const Contact& a, const Contact& b) {
  return (a.n_W - b.n_W).cwiseAbs().maxCoeff() <= kSameFrame && (a.t1_W - b.t1_W).cwiseAbs().maxCoeff() <= kSameFrame &&
         a.mu == b.mu && a.frictionless == b.frictionless && a.patch == b.patch && a.ellipsoid == b.ellipsoid;
}

}  // namespace

void RedundantContacts::find(std::span<const Contact> contacts, std::vector<char>& redundant) {
  redundant.assign(contacts.size(), 0);
  by_bodies_.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const auto a = static_cast<std::uint32_t>(contacts[i].body_a), b = static_cast<std::uint32_t>(contacts[i].body_b);
    by_bodies_.emplace_back(std::uint64_t{a} << 32 | b, static_cast<int>(i));
  }
  std::sort(by_bodies_.begin(), by_bodies_.end());
  for (std::size_t first = 0, last = 0; first < by_bodies_.size(); first = last) {
    rest_.clear();
    for (; last < by_bodies_.size() && by_bodies_[last].first == by_bodies_[first].first; ++last)
      rest_.push_back(by_bodies_[last].second);
    // One frame after the other; two points are corners always.
    while (rest_.size() > 2) {
      const Contact& like = contacts[rest_.front()];
      patch_.clear();
      std::erase_if(rest_, [&](int i) {
        const bool is_of_it = share_a_frame(like, contacts[i]);
        if (is_of_it) patch_.push_back(i);
        return is_of_it;
      });
      if (patch_.size() > 2) mark_inner(contacts, redundant);
    }
  }
}

void RedundantContacts::mark_inner(std::span<const Contact> contacts, std::vector<char>& redundant) {
  const auto at = [&](int k) -> const Contact& { return contacts[patch_[k]]; };
  const Contact& like = at(0);
  const Eigen::Vector3d across_W = like.n_W.cross(like.t1_W);
  const auto count = static_cast<int>(patch_.size());
  // Its length: from the point that is furthest from any to the one furthest from that.
  const auto furthest_from = [&](const Eigen::Vector3d& p) {
    int best = 0;
    double most = -1;
    for (int k = 0; k < count; ++k) {
      const Eigen::Vector3d way = at(k).p_WA - p;
      const double squared = std::pow(like.t1_W.dot(way), 2) + std::pow(across_W.dot(way), 2);
      if (squared > most) {
        most = squared;
        best = k;
      }
    }
    return best;
  };
  const int first = furthest_from(like.p_WA);
  const Eigen::Vector3d origin = at(first).p_WA;
  const int last = furthest_from(origin);
  const Eigen::Vector3d whole = at(last).p_WA - origin;
  Eigen::Vector2d length(like.t1_W.dot(whole), across_W.dot(whole));
  if (!(length.norm() > kGrid)) return;
  const double longest = length.norm();
  length /= longest;
  points_.clear();
  for (int k = 0; k < count; ++k) {
    const Eigen::Vector3d way = at(k).p_WA - origin;
    const double x = like.t1_W.dot(way), y = across_W.dot(way);
    points_.push_back(
        {length.x() * x + length.y() * y, length.x() * y - length.y() * x, like.n_W.dot(way), at(k).gap, patch_[k]});
  }
  if (!is_flat(points_[first], points_[last])) return;
  mark_corners();
  for (std::size_t k = 0; k < points_.size(); ++k) redundant[points_[k].contact] = !is_corner_[k];
}

/// Whether heights and gaps are affine over the patch, by the plane through its ends and the point furthest across.
bool RedundantContacts::is_flat(const Point& first, const Point& last) const {
  const auto wide = std::max_element(points_.begin(), points_.end(), [](const Point& p, const Point& q) {
    return std::abs(p.across) < std::abs(q.across);
  });
  const double width = std::abs(wide->across);
  if (width > kFlat && width < kThin * last.along) return false;
  const auto is_affine = [&](double Point::* value) {
    const double slope = (last.*value - first.*value) / last.along;
    const auto off_line = [&](const Point& p) { return p.*value - first.*value - slope * p.along; };
    const double tilt = width > kFlat ? off_line(*wide) / wide->across : 0;
    return std::all_of(points_.begin(), points_.end(),
                       [&](const Point& p) { return std::abs(off_line(p) - tilt * p.across) <= kFlat; });
  };
  return is_affine(&Point::height) && is_affine(&Point::gap);
}

/// The convex hull, by its lower and its upper chain (A. M. Andrew, Inf. Process. Lett. 9 (1979)).
void RedundantContacts::mark_corners() {
  std::sort(points_.begin(), points_.end(), [](const Point& p, const Point& q) {
    const double a = std::round(p.along / kGrid), b = std::round(q.along / kGrid);
    return a != b ? a < b : p.across < q.across;
  });
  is_corner_.assign(points_.size(), 0);
  const auto count = static_cast<int>(points_.size());
  for (const bool upper : {false, true}) {
    hull_.clear();
    for (int i = 0; i < count; ++i) {
      const int k = upper ? count - 1 - i : i;
      while (hull_.size() > 1) {
        const Point &p = points_[hull_[hull_.size() - 2]], &q = points_[hull_.back()], &r = points_[k];
        const double x = r.along - p.along, y = r.across - p.across;
        // q stays where it lies outside the line from p to r.
        const double outside = (q.along - p.along) * y - (q.across - p.across) * x;
        if (outside > kFlat * std::hypot(x, y)) break;
        hull_.pop_back();
      }
      hull_.push_back(k);
    }
    for (const int k : hull_) is_corner_[k] = 1;
  }
}

}  // namespace deft::contact
