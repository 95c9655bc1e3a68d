#include "scene_bindings.hpp"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "deft/core/index.hpp"
#include "deft/io/scene/scene_file.hpp"
#include "deft/math/rotation.hpp"
#include "errors.hpp"

namespace deft::python {
namespace {

using nb::literals::operator""_a;

nb::tuple load(const std::string& path, const std::vector<std::string>& overlays,
               const std::map<std::string, std::string>& texts, const std::vector<std::string>& settings,
               const std::vector<std::string>& package_paths, const std::string& bundled_scenes) {
  Diagnostics diagnostics;
  const scene::Scene scene = [&] {
    const nb::gil_scoped_release unlocked;
    return io::load_scene(path,
                          {.overlays = overlays,
                           .settings = settings,
                           .package_paths = package_paths,
                           .bundled_scenes = bundled_scenes,
                           .texts = texts},
                          diagnostics);
  }();
  const std::vector<Diagnostic> warnings = gathered(diagnostics.all());
  return nb::make_tuple(nb::cast(scene), diagnostics_list(warnings));
}

/// The index of a body by its name, or by that of a model with one body.
int body_of(const scene::Scene& scene, const std::string& name) {
  if (const int body = scene.model().find_body(name); body >= 0) return body;
  for (const multibody::ModelInfo& model : scene.model().models())
    if (model.name == name && model.bodies.size() == 1) return model.bodies.front();
  throw InputError({}, fmt::format("body: there is no '{}'{}", name, did_you_mean(name, scene.names_bodies())));
}

/// Where a part of q, v or u begins, and its size.
struct Range { int first = 0, size = 0; };
enum class Vector { kQ, kV, kU };

Range range_of(const scene::Scene& scene, const std::string& name, Vector vector) {
  std::vector<std::string> names;
  if (vector == Vector::kU) {
    for (const scene::Robot& robot : scene.robots()) {
      if (robot.name == name) return {robot.first_u, robot.nu};
      names.push_back(robot.name);
    }
  } else {
    for (const scene::Object& object : scene.objects()) {
      if (object.name == name && !object.is_base)
        return vector == Vector::kQ ? Range{object.first_q, object.nq} : Range{object.first_v, object.nv};
      names.push_back(object.name);
    }
    for (const multibody::ModelInfo& model : scene.model().models()) {
      if (model.name == name)
        return vector == Vector::kQ ? Range{model.first_q, model.nq} : Range{model.first_v, model.nv};
      names.push_back(model.name);
    }
  }
  throw InputError({}, fmt::format("slice: there is no {} '{}'{}", vector == Vector::kU ? "robot" : "model", name,
                                   did_you_mean(name, names)));
}

nb::slice slice_of(const scene::Scene& scene, const std::string& name, Vector vector) {
  const Range range = range_of(scene, name, vector);
  return {range.first, range.first + range.size, 1};
}

int index_of(const scene::Scene& scene, const std::string& name) {
  const std::vector<std::string> names = scene.names_q();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw InputError({}, fmt::format("index: there is no coordinate '{}'{}", name, did_you_mean(name, names)));
  return static_cast<int>(found - names.begin());
}

nb::list coordinates(const scene::Scene& scene) {
  nb::list list;
  for (const multibody::CoordinateInfo& c : scene.model().coordinates())
    list.append(nb::make_tuple(c.name, c.unit, c.lower, c.upper));
  return list;
}

scene::ModelConfiguration model_configuration(nb::handle value, const std::string& model, bool is_body = false);

/// A key of a dict. @throws TypeError for one that is no text.
std::string text_of(nb::handle key, const std::string& where) {
  if (!nb::isinstance<nb::str>(key)) throw nb::type_error((where + ": expected names as keys").c_str());
  return nb::cast<std::string>(key);
}

/// One `key: value` of a model's placement.
void place(const std::string& key, nb::handle value, const std::string& name, bool is_body,
           scene::ModelConfiguration& out) {
  const std::string where = name + "." + key;
  if (key == "position") {
    out.position = read_vector(value, where, 3);
  } else if (key == "quat_wxyz") {
    const Eigen::VectorXd quat = read_vector(value, where, 4);
    if (!(quat.norm() > 0)) throw nb::value_error((where + ": a quaternion of length 0").c_str());
    out.rotation = Eigen::Quaterniond(quat(0), quat(1), quat(2), quat(3)).normalized().toRotationMatrix();
  } else if (nb::isinstance<nb::dict>(value)) {
    if (is_body) throw nb::value_error((where + ": expected a number").c_str());
    const scene::ModelConfiguration body = model_configuration(value, where, true);
    out.free_bodies[key] = {body.position, body.rotation};
  } else {
    const Numbers number(value, where);
    if (number.ndim() != 0) throw nb::value_error((where + ": expected a number, got shape " + number.shape()).c_str());
    if (!std::isfinite(*number.data())) throw nb::value_error((where + ": not a finite number").c_str());
    out.joints.by_name[key] = *number.data();
  }
}

scene::ModelConfiguration model_configuration(nb::handle value, const std::string& model, bool is_body) {
  scene::ModelConfiguration out;
  if (nb::isinstance<nb::dict>(value)) {
    for (const auto& [key, entry] : nb::borrow<nb::dict>(value)) place(text_of(key, model), entry, model, is_body, out);
    return out;
  }
  const Numbers numbers(value, model);
  if (numbers.ndim() != 1) throw nb::value_error((model + ": expected a list of numbers or a dict").c_str());
  out.joints.list.assign(numbers.data(), numbers.data() + numbers.size(0));
  for (const double number : out.joints.list)
    if (!std::isfinite(number)) throw nb::value_error((model + ": not a finite number").c_str());
  return out;
}

Array pack(const scene::Scene& scene, const nb::dict& models) {
  scene::ConfigurationSpec spec;
  for (const auto& [name, value] : models) {
    const std::string model = text_of(name, "models");
    spec.models[model] = model_configuration(value, model);
  }
  return to_array(scene.starting_at(spec).initial_configuration());
}

Eigen::Matrix4d body_pose(const scene::Scene& scene, nb::handle q, const std::string& body) {
  scene::SceneState state = scene.make_state();
  scene.update(read_vector(q, "q", scene.nq()), state);
  return state.X_WB()[to_size(body_of(scene, body))].matrix();
}

Array jacobian(const scene::Scene& scene, nb::handle q, const std::string& name) {
  scene::SceneState state = scene.make_state();
  const int body = body_of(scene, name);
  scene.update(read_vector(q, "q", scene.nq()), state);
  const auto columns = scene.model().columns(body);
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> block(6, columns.size());
  scene.model().point_jacobian(state.kinematics, body, state.X_WB()[to_size(body)].translation(), block.data(),
                               static_cast<int>(columns.size()));
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(6, scene.nv());
  for (std::size_t k = 0; k < columns.size(); ++k) J.col(columns[k]) = block.col(static_cast<Eigen::Index>(k));
  return to_array(J);
}

Contacts find_contacts(const scene::Scene& scene, nb::handle q) {
  Contacts contacts{scene, read_vector(q, "q", scene.nq()), {}, {}};
  scene::SceneState state = scene.make_state();
  scene.update(contacts.q, state);
  scene.find_contacts(scene.settings().step.contact_margin, state);
  contacts.pairs = state.contacts;
  for (const collision::ContactPair& pair : contacts.pairs)
    contacts.mu.push_back(scene.friction(pair.geometry_a, pair.geometry_b).mu);
  return contacts;
}

/// An array of three numbers per contact.
template <typename Of>
Array points(const Contacts& contacts, Of of) {
  return new_array({contacts.pairs.size(), 3}, [&](double* out) {
    for (std::size_t i = 0; i < contacts.pairs.size(); ++i)
      Eigen::Map<Eigen::Vector3d>(out + 3 * i) = of(contacts.pairs[i]);
  });
}

void bind_contacts(nb::module_& module) {
  nb::class_<Contacts>(module, "Contacts", "Contact points of a configuration, nearer than `step.contact_margin`.")
      .def("__len__", [](const Contacts& c) { return c.pairs.size(); })
      .def_prop_ro(
          "bodies",
          [](const Contacts& c) {
            const std::vector<std::string> names = c.scene.names_bodies();
            std::vector<std::pair<std::string, std::string>> bodies;
            for (const collision::ContactPair& pair : c.pairs)
              bodies.emplace_back(names[to_size(pair.body_a)], names[to_size(pair.body_b)]);
            return bodies;
          },
          "The names (a, b) of the two bodies of each contact.")
      .def_prop_ro(
          "gap",
          [](const Contacts& c) {
            return new_array({c.pairs.size()}, [&](double* out) {
              for (std::size_t i = 0; i < c.pairs.size(); ++i) out[i] = c.pairs[i].gap;
            });
          },
          "φ [m], shape (n_c,); negative: penetration.")
      .def_prop_ro(
          "mu",
          [](const Contacts& c) {
            return to_array(
                Eigen::Map<const Eigen::VectorXd>(c.mu.data(), static_cast<Eigen::Index>(c.mu.size())).eval());
          },
          "Coefficient of friction, shape (n_c,).")
      .def_prop_ro(
          "normal", [](const Contacts& c) { return points(c, [](const auto& p) { return p.nhat_BA_W; }); },
          "Unit normals from b to a in the world, shape (n_c, 3).")
      .def_prop_ro(
          "point",
          [](const Contacts& c) {
            return points(c, [](const auto& p) { return Eigen::Vector3d(0.5 * (p.p_WA + p.p_WB)); });
          },
          "Midpoints of the witness points in the world [m], shape (n_c, 3).")
      .def_prop_ro(
          "jacobian",
          [](const Contacts& c) {
            const std::vector<double> rows = witness_jacobians(c);
            return new_array({c.pairs.size(), 3, to_size(c.scene.nv())},
                             [&](double* out) { std::copy(rows.begin(), rows.end(), out); });
          },
          "Velocity of a's witness point minus that of b's per unit of v, world axes, shape (n_c, 3, n_v): d gap = n·J "
          "dq.");
}

}  // namespace

std::vector<double> witness_jacobians(const Contacts& contacts) {
  const scene::Scene& scene = contacts.scene;
  scene::SceneState state = scene.make_state();
  scene.update(contacts.q, state);
  const std::size_t nv = to_size(scene.nv());
  std::vector<double> rows(contacts.pairs.size() * 3 * nv, 0.0), block;
  const auto add = [&](double* out, int body, const Eigen::Vector3d& p_W, double sign) {
    const auto columns = scene.model().columns(body);
    block.assign(6 * columns.size(), 0.0);
    scene.model().point_jacobian(state.kinematics, body, p_W, block.data(), static_cast<int>(columns.size()));
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t k = 0; k < columns.size(); ++k)
        out[row * nv + to_size(columns[k])] += sign * block[(3 + row) * columns.size() + k];
  };
  for (std::size_t i = 0; i < contacts.pairs.size(); ++i) {
    const collision::ContactPair& pair = contacts.pairs[i];
    add(&rows[3 * nv * i], pair.body_a, pair.p_WA, 1);
    add(&rows[3 * nv * i], pair.body_b, pair.p_WB, -1);
  }
  return rows;
}

void bind_scene(nb::module_& module) {
  bind_contacts(module);
  module.def(
      "vector",
      [](nb::handle value, const std::string& name, int size) { return to_array(read_vector(value, name, size)); },
      "value"_a.none(), "name"_a, "size"_a);
  module.def("load", &load, "path"_a, "overlays"_a, "texts"_a, "settings"_a, "package_paths"_a, "bundled_scenes"_a);
  nb::class_<scene::Scene>(module, "Scene")
      .def_prop_ro("name", [](const scene::Scene& s) { return s.spec().name; })
      .def_prop_ro("file", [](const scene::Scene& s) { return s.spec().file; })
      .def_prop_ro("merged_yaml", [](const scene::Scene& s) { return s.spec().merged_yaml; })
      .def_prop_ro("n_q", &scene::Scene::nq)
      .def_prop_ro("n_v", &scene::Scene::nv)
      .def_prop_ro("n_u", &scene::Scene::nu)
      .def_prop_ro("names_q", &scene::Scene::names_q)
      .def_prop_ro("names_v", &scene::Scene::names_v)
      .def_prop_ro("names_u", &scene::Scene::names_u)
      .def_prop_ro("bodies", &scene::Scene::names_bodies)
      .def_prop_ro("robots",
                   [](const scene::Scene& s) {
                     std::vector<std::string> names;
                     for (const scene::Robot& robot : s.robots()) names.push_back(robot.name);
                     return names;
                   })
      .def_prop_ro("objects",
                   [](const scene::Scene& s) {
                     std::vector<std::string> names;
                     for (const scene::Object& object : s.objects()) names.push_back(object.name);
                     return names;
                   })
      .def_prop_ro("goals",
                   [](const scene::Scene& s) {
                     std::vector<std::string> names;
                     for (const scene::GoalSpec& goal : s.spec().goals) names.push_back(goal.target.name);
                     return names;
                   })
      .def_prop_ro("configurations",
                   [](const scene::Scene& s) {
                     std::vector<std::string> names;
                     for (const scene::ConfigurationSpec& c : s.spec().configurations) names.push_back(c.name);
                     return names;
                   })
      .def_prop_ro("coordinates", &coordinates)
      .def_prop_ro("command_coordinates",
                   [](const scene::Scene& s) {
                     return std::vector<int>(s.command_coordinates().begin(), s.command_coordinates().end());
                   })
      .def("index", &index_of, "name"_a)
      .def(
          "slice_q", [](const scene::Scene& s, const std::string& name) { return slice_of(s, name, Vector::kQ); },
          "name"_a)
      .def(
          "slice_v", [](const scene::Scene& s, const std::string& name) { return slice_of(s, name, Vector::kV); },
          "name"_a)
      .def(
          "slice_u", [](const scene::Scene& s, const std::string& name) { return slice_of(s, name, Vector::kU); },
          "name"_a)
      .def("q", [](const scene::Scene& s) { return to_array(s.initial_configuration()); })
      .def(
          "q", [](const scene::Scene& s, const std::string& name) { return to_array(s.configuration(name)); }, "name"_a)
      .def("v", [](const scene::Scene& s) { return to_array(s.initial_velocity()); })
      .def("pack", &pack, "models"_a)
      .def(
          "body_pose",
          [](const scene::Scene& s, nb::handle q, const std::string& body) {
            return to_array(Eigen::MatrixXd(body_pose(s, q, body)));
          },
          "q"_a.none(), "body"_a)
      .def_prop_ro("last_knot_time", &scene::Scene::last_knot_time)
      .def("contacts", &find_contacts, "q"_a.none())
      .def("jacobian", &jacobian, "q"_a.none(), "body"_a)
      .def(
          "integrate",
          [](const scene::Scene& s, nb::handle q, nb::handle dq) {
            Eigen::VectorXd next;
            s.model().integrate(read_vector(q, "q", s.nq()), read_vector(dq, "dq", s.nv()), next);
            return to_array(next);
          },
          "q"_a.none(), "dq"_a.none())
      .def(
          "difference",
          [](const scene::Scene& s, nb::handle q0, nb::handle q1) {
            return to_array(s.model().difference(read_vector(q0, "q0", s.nq()), read_vector(q1, "q1", s.nq())));
          },
          "q0"_a.none(), "q1"_a.none());
}

}  // namespace deft::python
