#include "deft/viewer/run_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "deft/core/index.hpp"
#include "deft/viewer/blocks.hpp"
#include "deft/viewer/plan_blocks.hpp"
#include "deft/viewer/track_blocks.hpp"

namespace deft::viewer {
namespace {

using dynamics::ContactRecord;
using dynamics::StepRecord;
using dynamics::SupportRecord;
using dynamics::Trajectory;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the blocks are little-endian");

[[noreturn]] void fail(const std::string& what) { throw std::invalid_argument("make_page: " + what); }

void check_size(std::string_view name, std::size_t actual, std::size_t expected, std::string_view reason) {
  if (actual != expected) fail(fmt::format("{} has {} entries, expected {} ({})", name, actual, expected, reason));
}

template <typename Rows>
void check_rows(std::string_view name, const Rows& rows, std::size_t count, std::size_t width,
                std::string_view reason) {
  check_size(name, rows.size(), count, reason);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    check_size(fmt::format("{}[{}]", name, k), rows[k].size(), width, "its list of names");
  }
}

void check_tracks(const Trajectory& run) {
  if (run.track_words.empty()) return;
  check_size("tracks", run.tracks.size(), run.steps.size(), "one per step");
  check_rows("reference_X_WB", run.reference_X_WB, run.t.size(), run.names_bodies.size(), "steps + 1");
  for (std::size_t k = 0; k < run.tracks.size(); ++k) {
    const int status = run.tracks[k].status;
    if (status < 0 || status >= static_cast<int>(run.track_words.size()))
      fail(fmt::format("tracks[{}].status is {}, but there are {} track words", k, status, run.track_words.size()));
  }
}

void check_contacts(const Trajectory& run) {
  check_size("contact_offset", run.contact_offset.size(), run.steps.size() + 1, "steps + 1");
  for (std::size_t k = 0; k + 1 < run.contact_offset.size(); ++k) {
    if (run.contact_offset[k] > run.contact_offset[k + 1]) fail(fmt::format("contact_offset decreases at {}", k + 1));
  }
  if (run.contact_offset.front() != 0) fail("contact_offset must start at 0");
  check_size("contacts", run.contacts.size(), run.contact_offset.back(), "the last contact_offset");
  const int num_bodies = static_cast<int>(run.names_bodies.size());
  for (std::size_t c = 0; c < run.contacts.size(); ++c) {
    for (const int body : {run.contacts[c].a, run.contacts[c].b}) {
      if (body < 0 || body >= num_bodies) {
        fail(fmt::format("contacts[{}] names body {}, but there are {} bodies", c, body, num_bodies));
      }
    }
  }
}

void check_alternative_motions(const Trajectory& run) {
  if (run.second_X_WB.empty()) return;
  check_size("second_X_WB", run.second_X_WB.size(), run.steps.size(), "one per step");
  for (std::size_t k = 0; k < run.second_X_WB.size(); ++k) {
    if (run.second_X_WB[k].empty()) continue;
    check_size(fmt::format("second_X_WB[{}]", k), run.second_X_WB[k].size(), run.names_bodies.size(),
               "names_bodies, or none");
  }
}

void check_supports(const Trajectory& run) {
  for (const int body : run.support_bodies) {
    if (body < 0 || body >= static_cast<int>(run.names_bodies.size()))
      fail(fmt::format("support_bodies holds {}, outside the bodies", body));
  }
  check_size("supports", run.supports.size(), run.steps.size() * run.support_bodies.size(), "steps · support_bodies");
}

void check_trajectory(const Trajectory& run) {
  const std::size_t steps = run.steps.size();
  const std::size_t frames = steps == 0 && run.t.empty() ? 0 : steps + 1;
  check_size("t", run.t.size(), frames, "steps + 1");
  check_rows("q", run.q, frames, run.names_q.size(), "steps + 1");
  check_rows("u", run.u, steps, run.names_u.size(), "one row per step");
  check_rows("X_WB", run.X_WB, frames, run.names_bodies.size(), "steps + 1");
  if (!run.u_index_q.empty()) check_size("u_index_q", run.u_index_q.size(), run.names_u.size(), "one per command");
  for (const int i : run.u_index_q) {
    if (i < -1 || i >= static_cast<int>(run.names_q.size())) fail(fmt::format("u_index_q holds {}, outside q", i));
  }
  for (std::size_t k = 0; k < steps; ++k) {
    const int status = run.steps[k].status;
    if (status < 0 || status >= static_cast<int>(run.status_words.size())) {
      fail(fmt::format("steps[{}].status is {}, but there are {} status words", k, status, run.status_words.size()));
    }
  }
  check_contacts(run);
  check_alternative_motions(run);
  check_supports(run);
  if (run.horizon > 0) check_size("horizons", run.horizons.size(), steps, "one per step");
  check_tracks(run);
}

/// Of a second run only what is drawn of it.
void check_beside(const PageContent& content) {
  if (content.beside->trajectory == nullptr) fail("beside has no trajectory");
  const Trajectory& other = *content.beside->trajectory;
  if (other.names_bodies != content.trajectory->names_bodies) fail("beside has other bodies");
  check_size("beside: t", other.t.size(), other.steps.size() + 1, "steps + 1");
  check_rows("beside: X_WB", other.X_WB, other.t.size(), other.names_bodies.size(), "steps + 1");
  check_tracks(other);
}

json parse_scene(const PageContent& content) {
  json scene = json::parse(content.scene_json, nullptr, /*allow_exceptions=*/false);
  if (!scene.is_object()) fail("scene_json is not a JSON object");
  if (const auto bodies = scene.find("bodies"); bodies != scene.end()) {
    if (!bodies->is_array()) fail("scene_json: bodies is not a list");
    check_size("scene_json: bodies", bodies->size(), content.trajectory->names_bodies.size(), "names_bodies");
  }
  return scene;
}

void add_motion(json& blocks, const Trajectory& run, std::span<const std::size_t> frames) {
  Indices frame;
  Reals t, q, u, X_WB;
  for (const std::size_t k : frames) {
    frame.add(static_cast<double>(k));
    t.add(run.t[k]);
    q.add_all(run.q[k]);
    for (const auto& pose : run.X_WB[k]) X_WB.add_all(pose);
    if (k > 0) u.add_all(run.u[k - 1]);
  }
  const std::size_t n = frames.size(), steps = n == 0 ? 0 : n - 1;
  blocks["frame"] = frame.block({n});
  blocks["t"] = t.block({n});
  blocks["q"] = q.block({n, run.names_q.size()});
  blocks["u"] = u.block({steps, run.names_u.size()});
  blocks["X_WB"] = X_WB.block({n, run.names_bodies.size(), 7});
}

void add_contacts(json& blocks, const Trajectory& run, std::span<const std::size_t> frames) {
  Indices offset;
  Shorts bodies;
  Bytes state;
  Reals point_W, normal_W, force_W, torque_W, gap, mu;
  bool has_torque = false;
  offset.add(0);
  for (const std::size_t k : frames) {
    if (k == 0) continue;
    for (std::size_t c = run.contact_offset[k - 1]; c < run.contact_offset[k]; ++c) {
      const ContactRecord& contact = run.contacts[c];
      bodies.add(contact.a);
      bodies.add(contact.b);
      state.add(static_cast<double>(contact.state));
      point_W.add_all(contact.point_W);
      normal_W.add_all(contact.normal_W);
      force_W.add_all(contact.force_W);
      torque_W.add_all(contact.torque_W);
      gap.add(contact.gap);
      mu.add(contact.mu);
      for (const double x : contact.torque_W) has_torque = has_torque || x != 0;
    }
    offset.add(static_cast<double>(gap.values.size()));
  }
  const std::size_t n = gap.values.size();
  blocks["contact_offset"] = offset.block({offset.values.size()});
  blocks["contact_bodies"] = bodies.block({n, 2});
  blocks["contact_state"] = state.block({n});
  blocks["contact_point_W"] = point_W.block({n, 3});
  blocks["contact_normal_W"] = normal_W.block({n, 3});
  blocks["contact_force_W"] = force_W.block({n, 3});
  blocks["contact_gap"] = gap.block({n});
  blocks["contact_mu"] = mu.block({n});
  if (has_torque) blocks["contact_torque_W"] = torque_W.block({n, 3});
}

/// What the model of the equivalent contact point says of the contacts.
void add_patches(json& blocks, const Trajectory& run, std::span<const std::size_t> frames) {
  if (!run.has_contact_kinds) return;
  Bytes kind;
  Reals tangent_W, slip, ellipsoid;
  for (const std::size_t k : frames) {
    if (k == 0) continue;
    for (std::size_t c = run.contact_offset[k - 1]; c < run.contact_offset[k]; ++c) {
      const ContactRecord& contact = run.contacts[c];
      kind.add(static_cast<double>(contact.kind));
      tangent_W.add_all(contact.tangent_W);
      slip.add_all(contact.slip);
      ellipsoid.add_all(contact.ellipsoid);
    }
  }
  const std::size_t n = kind.values.size();
  blocks["contact_kind"] = kind.block({n});
  blocks["contact_tangent_W"] = tangent_W.block({n, 3});
  blocks["contact_slip"] = slip.block({n, 3});
  blocks["contact_ellipsoid"] = ellipsoid.block({n, 3});
}

/// How far apart two poses are [m, rad]: what differs in the last digits is lost in single precision.
std::array<double, 2> apart(const std::array<double, 7>& a, const std::array<double, 7>& b) {
  double dot = 0, chord = 0;
  for (std::size_t i = 0; i < 4; ++i) dot += a[i] * b[i];
  for (std::size_t i = 0; i < 4; ++i) chord = std::hypot(chord, a[i] - (dot < 0 ? -b[i] : b[i]));  // 2 sin(θ/4)
  return {std::hypot(a[4] - b[4], a[5] - b[5], a[6] - b[6]), 4 * std::asin(std::min(1.0, chord / 2))};
}

/// Whether steps have other motions, and the poses after those that are known.
void add_alternative_motions(json& blocks, const Trajectory& run, std::span<const std::size_t> frames) {
  if (!run.searches_alternatives) return;
  Bytes uniqueness;
  Indices frame;
  Reals X_WB, distance;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (frames[i] == 0) continue;
    const std::size_t step = frames[i] - 1;
    uniqueness.add(run.steps[step].uniqueness);
    if (step >= run.second_X_WB.size() || run.second_X_WB[step].empty()) continue;
    frame.add(static_cast<double>(i));
    for (std::size_t b = 0; b < run.names_bodies.size(); ++b) {
      X_WB.add_all(run.second_X_WB[step][b]);
      distance.add_all(apart(run.second_X_WB[step][b], run.X_WB[step + 1][b]));
    }
  }
  const std::size_t n = frame.values.size();
  blocks["step_uniqueness"] = uniqueness.block({uniqueness.values.size()});
  blocks["second_frame"] = frame.block({n});
  blocks["second_X_WB"] = X_WB.block({n, run.names_bodies.size(), 7});
  blocks["second_distance"] = distance.block({n, run.names_bodies.size(), 2});
}

void add_supports(json& document, const Trajectory& run, std::span<const std::size_t> frames) {
  const std::size_t supports = run.support_bodies.size();
  if (supports == 0) return;
  Reals load, factor, twist, form;
  Bytes state;
  for (const std::size_t k : frames) {
    if (k == 0) continue;
    for (std::size_t i = 0; i < supports; ++i) {
      const SupportRecord& record = run.supports[(k - 1) * supports + i];
      load.add_all(record.load);
      factor.add(record.factor);
      twist.add_all(record.twist);
      form.add_all(record.form);
      state.add(static_cast<double>(record.state));
    }
  }
  document["supports"] = {{"bodies", run.support_bodies}};
  const std::size_t n = state.values.size() / supports;
  json& blocks = document["blocks"];
  blocks["support_load"] = load.block({n, supports, 3});
  blocks["support_factor"] = factor.block({n, supports});
  blocks["support_twist"] = twist.block({n, supports, 3});
  blocks["support_form"] = form.block({n, supports, 6});
  blocks["support_state"] = state.block({n, supports});
}

void add_steps(json& blocks, const Trajectory& run, std::span<const std::size_t> frames) {
  Bytes status, unique;
  Indices iterations;
  Reals residual, solve_us, energy, gap_min;
  for (const std::size_t k : frames) {
    if (k == 0) continue;
    const StepRecord& step = run.steps[k - 1];
    status.add(step.status);
    unique.add((step.motion_unique ? 1 : 0) + (step.forces_unique ? 2 : 0));
    iterations.add(step.iterations);
    residual.add(step.residual);
    solve_us.add(step.solve_us);
    energy.add(step.energy);
    gap_min.add(step.gap_min);
  }
  const std::size_t n = status.values.size();
  blocks["step_status"] = status.block({n});
  blocks["step_unique"] = unique.block({n});
  blocks["step_iterations"] = iterations.block({n});
  blocks["step_residual"] = residual.block({n});
  blocks["step_solve_us"] = solve_us.block({n});
  blocks["step_energy"] = energy.block({n});
  blocks["step_gap_min"] = gap_min.block({n});
}

/// The tree: what it is called in clear, one column per number.
void add_tree(json& document, const SearchTree& tree, std::size_t total, std::size_t bodies) {
  json segments = json::array();
  for (const SearchTree::Segment& segment : tree.segments)
    segments.push_back({segment.first, segment.last, segment.transit, segment.node});
  document["tree"] = {{"goal", tree.goal}, {"total", total}, {"segments", segments}};
  document["tree"]["success"] = tree.success ? json(*tree.success) : json(nullptr);
  Indices parent, regrasps;
  Bytes kind;
  Reals distance, cost, time, X_WB;
  for (const SearchTree::Node& node : tree.nodes) {
    parent.add(std::max(node.parent, 0));
    regrasps.add(node.regrasps);
    kind.add(node.kind);
    distance.add(node.distance_m);
    cost.add(node.cost_s);
    time.add(node.time_s);
  }
  X_WB.values = tree.X_WB;
  const std::size_t n = tree.nodes.size();
  json& blocks = document["blocks"];
  blocks["tree_parent"] = parent.block({n});
  blocks["tree_kind"] = kind.block({n});
  blocks["tree_regrasps"] = regrasps.block({n});
  blocks["tree_distance"] = distance.block({n});
  blocks["tree_cost"] = cost.block({n});
  blocks["tree_time"] = time.block({n});
  blocks["tree_X_WB"] = X_WB.block({n, bodies, 7});
}

/// Reachable sets at the frames and nodes that are kept; a place is a kept frame, or a node after all frames.
void add_reachable(json& document, const SearchTree::Reachable& sets, std::span<const std::size_t> frames) {
  if (sets.places.empty()) return;
  Indices places;
  Reals ellipsoids;
  const auto row = static_cast<std::ptrdiff_t>(sets.ellipsoids.size() / sets.places.size());
  for (std::size_t i = 0; i < sets.places.size(); ++i) {
    const auto [frame, node] = sets.places[i];
    const auto kept = std::lower_bound(frames.begin(), frames.end(), to_size(std::max(frame, 0)));
    if (frame >= 0 && (kept == frames.end() || *kept != to_size(frame))) continue;
    places.add(frame >= 0 ? static_cast<double>(kept - frames.begin()) : static_cast<double>(frames.size()) + node);
    const auto first = sets.ellipsoids.begin() + static_cast<std::ptrdiff_t>(i) * row;
    ellipsoids.values.insert(ellipsoids.values.end(), first, first + row);
  }
  document["tree"]["reachable"] = {{"radius", sets.radius}, {"kappa", sets.kappa}, {"bodies", sets.bodies}};
  const std::size_t n = places.values.size();
  document["blocks"]["reachable_place"] = places.block({n});
  document["blocks"]["reachable_ellipsoids"] = ellipsoids.block({n, sets.bodies.size(), 8, 3});
}

/// Why there is no plan that holds, and where tries came to nothing.
void add_explanation(json& document, const Explanation& explanation, std::size_t bodies) {
  json reasons = json::array();
  for (const Explanation::Reason& reason : explanation.reasons)
    reasons.push_back({{"reason", reason.reason},
                       {"count", reason.count},
                       {"weight", reason.weight},
                       {"detail", reason.detail},
                       {"setting", reason.setting}});
  document["explanation"] = {{"status", explanation.status}, {"reasons", reasons}, {"tries", explanation.tries}};
  Reals X_WB;
  X_WB.values = explanation.X_WB;
  document["blocks"]["failed_X_WB"] = X_WB.block({explanation.tries.size(), bodies, 7});
}

std::string escape_for_script(const std::string& text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

void check_content(const PageContent& content) {
  if (content.trajectory == nullptr) fail("no trajectory given");
  check_trajectory(*content.trajectory);
  parse_scene(content);
  if (content.beside) check_beside(content);
  if (content.tree) {
    const Trajectory& run = *content.trajectory;
    check_tree(*content.tree, run.names_bodies.size(), run.steps.size());
  }
  if (content.explanation) check_explanation(*content.explanation, content.trajectory->names_bodies.size());
}

std::string run_document(const PageContent& content, std::span<const std::size_t> frames, std::size_t nodes) {
  const Trajectory& run = *content.trajectory;
  json document = {{"format", "deft-run"}, {"version", 1}, {"title", content.title}};
  document["scene"] = parse_scene(content);
  document["names"] = {
      {"q", run.names_q}, {"u", run.names_u}, {"bodies", run.names_bodies}, {"status_words", run.status_words}};
  document["u_index_q"] = run.u_index_q;
  document["frames"] = {{"total", run.t.size()}, {"kept", frames.size()}};
  json& blocks = document["blocks"] = json::object();
  add_motion(blocks, run, frames);
  add_contacts(blocks, run, frames);
  add_patches(blocks, run, frames);
  add_steps(blocks, run, frames);
  add_alternative_motions(blocks, run, frames);
  add_supports(document, run, frames);
  add_plans(document, run, frames);
  add_tracks(document, run, frames);
  if (content.beside) add_beside(document, run, *content.beside, frames.size());
  if (content.explanation) add_explanation(document, *content.explanation, run.names_bodies.size());
  if (content.tree) {
    const SearchTree kept = first_nodes(*content.tree, nodes);
    add_tree(document, kept, content.tree->nodes.size(), run.names_bodies.size());
    add_reachable(document, kept.reachable, frames);
  }
  // Names that are not UTF-8 are shown with replacement characters rather than refused.
  return escape_for_script(document.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace deft::viewer
