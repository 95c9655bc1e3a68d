#pragma once
// `<replicate>`: copies of what it holds, each moved against the one before.

#include "deft/multibody/mjcf/mjcf_compiler.hpp"

namespace deft::multibody::mjcf {

/// The worldbody with every `<replicate>` replaced by its copies, frames in which names end in `sep` and the number of
/// the copy, with zeros before it, as many digits as the count has. Copy i is turned by i times the angles of `euler`,
/// and stands one `offset`, seen from the copy before, farther than that one. More than a million elements are an
/// error, and the copies are left out.
Element with_copies(const Element& worldbody, const Compiler& compiler, const Values& values);

}  // namespace deft::multibody::mjcf
