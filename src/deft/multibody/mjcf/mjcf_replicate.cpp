#include "deft/multibody/mjcf/mjcf_replicate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deft::multibody::mjcf {
namespace {

constexpr std::size_t kElementsOfCopies = 1'000'000;

std::size_t size_of(const Element& element) {
  std::size_t size = 1;
  for (const Element& child : element.children) size += size_of(child);
  return size;
}

void rename(const std::string& ending, Element& element) {
  if (const std::string* const name = element.find("name")) element.set("name", *name + ending);
  for (Element& child : element.children) rename(ending, child);
}

class Copier {
 public:
  Copier(const Compiler& compiler, const Values& values) : compiler_(compiler), values_(values) {}

  Element copied(const Element& element) {
    Element result{.tag = element.tag, .attributes = element.attributes, .children = {}, .where = element.where};
    for (const Element& child : element.children) {
      Element inner = copied(child);
      if (child.tag == "replicate")
        append_copies(inner, result.children);
      else
        result.children.push_back(std::move(inner));
    }
    return result;
  }

 private:
  /// @param element  with the copies inside it made.
  void append_copies(const Element& element, std::vector<Element>& list) {
    const int count = values_.integer(element, "count", 0);
    if (count < 1) return values_.error(element, fmt::format("<replicate>: count must be at least 1, it is {}", count));
    made_ += size_of(element) * static_cast<std::size_t>(count);
    if (made_ > kElementsOfCopies)
      return values_.error(element, fmt::format("<replicate> makes more than {} elements", kElementsOfCopies));
    Element turned{.tag = element.tag, .attributes = {}, .children = {}, .where = element.where};
    const Eigen::Vector3d angles = values_.vector(element, "euler", Eigen::Vector3d::Zero());
    const Eigen::Vector3d offset = values_.vector(element, "offset", Eigen::Vector3d::Zero());
    const std::string separator = values_.text(element, "sep");
    const std::size_t digits = fmt::format("{}", count).size();
    Eigen::Vector3d p = Eigen::Vector3d::Zero();
    for (int i = 0; i < count; ++i) {
      Element frame{.tag = "frame", .attributes = {}, .children = element.children, .where = element.where};
      turned.set("euler", fmt::format("{}", fmt::join(Eigen::Vector3d(i * angles), " ")));
      const Eigen::Matrix3d R = read_orientation(turned, compiler_, values_);
      const Eigen::Vector4d quat = quat_wxyz_from_rotation(R);
      frame.set("pos", fmt::format("{}", fmt::join(p, " ")));
      frame.set("quat", fmt::format("{}", fmt::join(quat, " ")));
      p += R * offset;
      if (const std::string* const childclass = element.find("childclass")) frame.set("childclass", *childclass);
      for (Element& child : frame.children) rename(fmt::format("{}{:0{}}", separator, i, digits), child);
      list.push_back(std::move(frame));
    }
  }

  const Compiler& compiler_;
  const Values& values_;
  std::size_t made_ = 0;  // elements of all copies
};

}  // namespace

Element with_copies(const Element& worldbody, const Compiler& compiler, const Values& values) {
  return Copier(compiler, values).copied(worldbody);
}

}  // namespace deft::multibody::mjcf
