#include "deft/collision/shapes/qhull.hpp"

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace deft::collision {
namespace {

/// Qhull's state and what it prints, freed at the end.
class Run {
 public:
  Run() : log_(open_memstream(&text_, &size_)) { qh_zero(&qh_, log_); }
  ~Run() {
    int long_left = 0, bytes_left = 0;
    qh_freeqhull(&qh_, !qh_ALL);                     // what it took in long pieces
    qh_memfreeshort(&qh_, &long_left, &bytes_left);  // and its store of short ones
    std::fclose(log_);
    std::free(text_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Qt: facets of more corners as triangles. @throws std::runtime_error with the first line that it printed.
  qhT& hull_of(std::vector<double>& coordinates) {
    char options[] = "qhull Qt";
    const int failed =
        qh_new_qhull(&qh_, 3, static_cast<int>(coordinates.size() / 3), coordinates.data(), 0, options, nullptr, log_);
    std::fflush(log_);
    if (failed == 0) return qh_;
    const std::string said(text_, size_);
    throw std::runtime_error("Qhull finds no convex hull: " + said.substr(0, said.find('\n')));
  }

 private:
  qhT qh_{};
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* log_;
};

}  // namespace

HullSurface qhull_surface(const std::vector<Eigen::Vector3d>& points) {
  std::vector<double> coordinates;
  coordinates.reserve(3 * points.size());
  for (const Eigen::Vector3d& p : points) coordinates.insert(coordinates.end(), p.data(), p.data() + 3);
  Run run;
  qhT& qh = run.hull_of(coordinates);
  HullSurface surface;
  std::vector<int> number(points.size(), -1);
  const auto id = [&](const vertexT* vertex) { return static_cast<std::size_t>(qh_pointid(&qh, vertex->point)); };
  for (const vertexT* vertex = qh.vertex_list; vertex != nullptr && vertex->next != nullptr; vertex = vertex->next) {
    number[id(vertex)] = static_cast<int>(surface.points.size());
    surface.points.push_back(points[id(vertex)]);
  }
  for (const facetT* facet = qh.facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
    std::array<int, 3> corners{};
    for (int k = 0; k < 3; ++k) corners[k] = number[id(static_cast<const vertexT*>(facet->vertices->e[k].p))];
    surface.triangles.push_back(corners);
  }
  if (surface.triangles.empty()) throw std::runtime_error("the convex hull has no triangles");
  return surface;
}

}  // namespace deft::collision
