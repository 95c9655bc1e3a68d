// Exported scenes as MuJoCo compiles and moves them.
#ifdef DEFT_HAS_MUJOCO
#include "deft/exporters/mjcf_export.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "conformance/bundled_scenes.hpp"
#include "deft/core/index.hpp"
#include "deft/dynamics/models/make_step_model.hpp"
#include "deft/dynamics/rollout/rollout.hpp"
#include "plant/mujoco_functions.hpp"

namespace deft::exporters {
namespace mjcf_export_test {

namespace fs = std::filesystem;
using Eigen::VectorXd;
using multibody::JointKind;

class MjcfExport : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("mjcf_export_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  scene::Scene read(const std::string& yaml) {
    const fs::path file = folder_ / "scene.deft.yaml";
    std::ofstream(file) << yaml;
    Diagnostics diagnostics;
    return io::load_scene(file.string(), {}, diagnostics);
  }

  /// Exports and loads; the state is that of the keyframe.
  void load(const scene::Scene& scene) {
    exported_ = export_mjcf(scene, folder_.string());
    char message[1000] = "";
    model_.reset(DEFT_OF_MUJOCO(mj_loadXML)(exported_.files.front().c_str(), nullptr, message, sizeof message));
    ASSERT_NE(model_, nullptr) << message;
    data_.reset(plant::mujoco().mj_makeData(model_.get()));
    if (model_->nkey > 0) DEFT_OF_MUJOCO(mj_resetDataKeyframe)(model_.get(), data_.get(), 0);
    DEFT_OF_MUJOCO(mj_forward)(model_.get(), data_.get());
  }

  int id(mjtObj kind, const std::string& name) const {
    return plant::mujoco().mj_name2id(model_.get(), kind, name.c_str());
  }
  void step(double seconds) {
    for (int k = 0, n = static_cast<int>(std::lround(seconds / model_->opt.timestep)); k < n; ++k)
      DEFT_OF_MUJOCO(mj_step)(model_.get(), data_.get());
    DEFT_OF_MUJOCO(mj_kinematics)(model_.get(), data_.get());  // poses are those before the last step
  }

  void compare_poses(const scene::Scene& scene) {
    scene::SceneState state = scene.make_state();
    scene.update(scene.initial_configuration(), state);
    const std::vector<std::string> names = scene.names_bodies();
    for (std::size_t b = 1; b < names.size(); ++b) {
      const int i = id(mjOBJ_BODY, names[b]);
      ASSERT_GE(i, 0) << names[b];
      const RigidTransform X = make_transform(rotation_from_quat_wxyz(Eigen::Vector4d(data_->xquat + 4 * i)),
                                              Eigen::Vector3d(data_->xpos + 3 * i));
      EXPECT_TRUE(X.isApprox(state.X_WB()[b], 1e-9)) << names[b];
    }
  }

  /// With a margin that no distance reaches, every pair that may collide does; as spheres, since MuJoCo's test of two
  /// boxes finds no contact far away.
  void compare_pairs(const scene::Scene& scene) {
    constexpr double kFar = 100;
    std::set<std::pair<std::string, std::string>> ours, theirs;
    const auto add = [](std::string a, std::string b, auto& pairs) {
      if (b < a) std::swap(a, b);
      pairs.emplace(std::move(a), std::move(b));
    };
    std::fill_n(model_->geom_margin, model_->ngeom, kFar);
    for (int g = 0; g < model_->ngeom; ++g)
      if (model_->geom_type[g] != mjGEOM_PLANE) model_->geom_type[g] = mjGEOM_SPHERE;
    std::fill_n(model_->body_margin, model_->nbody, kFar);
    for (int p = 0; p < model_->npair; ++p) model_->pair_margin[p] = kFar;
    model_->opt.disableflags |= mjDSBL_MIDPHASE;
    DEFT_OF_MUJOCO(mj_fwdPosition)(model_.get(), data_.get());
    const auto name = [&](int geom) { return DEFT_OF_MUJOCO(mj_id2name)(model_.get(), mjOBJ_GEOM, geom); };
    for (int c = 0; c < data_->ncon; ++c) add(name(data_->contact[c].geom[0]), name(data_->contact[c].geom[1]), theirs);
    scene::SceneState state = scene.make_state();
    scene.update(scene.initial_configuration(), state);
    scene.find_contacts(kFar, state);
    const auto geometries = scene.collision_world().geometries();
    for (const collision::ContactPair& contact : state.contacts)
      add(geometries[to_size(contact.geometry_a)].name, geometries[to_size(contact.geometry_b)].name, ours);
    for (const auto& [a, b] : ours) EXPECT_TRUE(theirs.contains({a, b})) << a << " and " << b << " no longer collide";
    for (const auto& [a, b] : theirs) EXPECT_TRUE(ours.contains({a, b})) << a << " and " << b << " collide";
  }

  /// The coefficient of each contact that MuJoCo sees.
  void compare_friction(const scene::Scene& scene) {
    const auto geometries = scene.collision_world().geometries();
    const auto find = [&](int geom) {
      const std::string name = DEFT_OF_MUJOCO(mj_id2name)(model_.get(), mjOBJ_GEOM, geom);
      return static_cast<int>(
          std::find_if(geometries.begin(), geometries.end(), [&](const auto& g) { return g.name == name; }) -
          geometries.begin());
    };
    for (int c = 0; c < data_->ncon; ++c) {
      const mjContact& contact = data_->contact[c];
      const scene::PairFriction friction = scene.friction(find(contact.geom[0]), find(contact.geom[1]));
      if (friction.frictionless || friction.mu < 1e-5)
        EXPECT_EQ(contact.dim, 1);
      else
        EXPECT_NEAR(contact.friction[0], friction.mu * (friction.patch ? friction.ellipsoid[0] : 1), 1e-12);
    }
  }

  fs::path folder_;
  Exported exported_;
  plant::ModelPointer model_;
  plant::DataPointer data_;
};

TEST_F(MjcfExport, BundledScenesStartWhereTheyStart) {
  int compared = 0;
  for (const std::string& file : test::bundled_scenes()) {
    const scene::Scene scene = test::load_bundled(file, {});
    SCOPED_TRACE(file);
    load(scene);
    if (HasFatalFailure()) return;
    compare_poses(scene);
    EXPECT_EQ(model_->nu, scene.nu());
    if (scene.collision_world().geometries().size() < 60) {
      compare_pairs(scene);
      compare_friction(scene);
    }
    ++compared;
  }
  EXPECT_GE(compared, 15);
}

TEST_F(MjcfExport, MassesAreThoseOfTheScene) {
  const scene::Scene scene = test::load_bundled("scenes/allegro_ball/scene.deft.yaml", {});
  load(scene);
  const auto bodies = scene.model().bodies();
  for (std::size_t b = 1; b < bodies.size(); ++b) {
    if (bodies[b].weld_group == 0) continue;
    EXPECT_NEAR(model_->body_mass[id(mjOBJ_BODY, bodies[b].name)], bodies[b].mass, 1e-12) << bodies[b].name;
  }
}

TEST_F(MjcfExport, FallsFreelyWithTheVelocityOfItsStart) {
  load(test::load_bundled(DEFT_SOURCE_DIR "/scenes/plants/free_fall.deft.yaml", {}));
  const double t = 0.5;
  step(t);
  const int ball = id(mjOBJ_BODY, "ball");
  const Eigen::Vector3d fallen(0.7 * t, 0.2 * t, 1 + 1.5 * t - 0.5 * 9.81 * t * t);
  EXPECT_LT((Eigen::Map<const Eigen::Vector3d>(data_->xpos + 3 * ball) - fallen).norm(), 2.5e-3);  // g h t/2 of the
                                                                                                   // step
  const Eigen::Vector3d omega(3, -2, 1);
  const Eigen::Matrix3d turned = Eigen::AngleAxisd(omega.norm() * t, omega.normalized()).toRotationMatrix();
  EXPECT_LT((rotation_from_quat_wxyz(Eigen::Vector4d(data_->xquat + 4 * ball)) - turned).norm(), 1e-6);
}

/// θ'' = −sin θ g/ℓ, ℓ = 2L/3 of a thin rod with its cylinder's thickness, from 1 rad; by the classical Runge-Kutta
/// method in steps of 1e-4 s.
double pendulum_angle(double t) {
  const double length = 0.6, radius = 0.01, lever = 0.5 * length;
  const double rate = 9.81 * lever / (length * length / 12 + radius * radius / 4 + lever * lever);
  double angle = 1, speed = 0;
  for (int k = 0, n = static_cast<int>(std::lround(t / 1e-4)); k < n; ++k) {
    const double h = 1e-4;
    const double a1 = -rate * std::sin(angle), a2 = -rate * std::sin(angle + 0.5 * h * speed),
                 a3 = -rate * std::sin(angle + 0.5 * h * speed + 0.25 * h * h * a1),
                 a4 = -rate * std::sin(angle + h * speed + 0.5 * h * h * a2);
    angle += h * speed + h * h / 6 * (a1 + a2 + a3);
    speed += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  return angle;
}

TEST_F(MjcfExport, SwingsAsAPendulum) {
  load(test::load_bundled(DEFT_SOURCE_DIR "/scenes/plants/pendulum.deft.yaml", {}));
  for (const double t : {0.5, 1.0, 1.5}) {
    step(0.5);
    EXPECT_NEAR(data_->qpos[0], pendulum_angle(t), 1e-3) << t;  // of swings of 1 rad
  }
}

TEST_F(MjcfExport, PickAndPlaceEndsWhereItEnds) {
  const scene::Scene scene = test::load_bundled(DEFT_SOURCE_DIR "/scenes/pick_and_place/scene.deft.yaml", {});
  load(scene);
  const auto model = dynamics::make_step_model(scene);
  dynamics::State state = dynamics::initial_state(*model);
  VectorXd u(scene.nu()), last = Eigen::Map<const VectorXd>(data_->ctrl, model_->nu);
  dynamics::StepResult result;
  const int periods = static_cast<int>(std::lround(scene.last_knot_time() / model->h()));
  const int n = static_cast<int>(std::lround(model->h() / model_->opt.timestep));
  for (int k = 0; k < periods; ++k) {
    scene.command(k * model->h(), model->h(), u);
    model->step(state.q, u, result);
    ASSERT_TRUE(solvers::usable(result.status)) << k;
    state.q = result.q_next;
    for (int i = 1; i <= n; ++i) {
      Eigen::Map<VectorXd>(data_->ctrl, model_->nu) = last + (u - last) * i / n;
      DEFT_OF_MUJOCO(mj_step)(model_.get(), data_.get());
    }
    last = u;
  }
  DEFT_OF_MUJOCO(mj_kinematics)(model_.get(), data_.get());
  scene::SceneState end = scene.make_state();
  scene.update(state.q, end);
  int cubes = 0;
  double lifted = 0;
  for (const scene::Object& object : scene.objects()) {
    const int body = scene.model().models()[to_size(object.model)].bodies.front();
    const int theirs = id(mjOBJ_BODY, scene.model().bodies()[to_size(body)].name);
    const Eigen::Vector3d p = end.X_WB()[to_size(body)].translation();
    if (object.frozen || scene.model().bodies()[to_size(body)].weld_group == 0) continue;
    EXPECT_LT((Eigen::Map<const Eigen::Vector3d>(data_->xpos + 3 * theirs) - p).norm(), 1e-3) << object.name;
    lifted = std::max(lifted, p.z());
    ++cubes;
  }
  EXPECT_EQ(cubes, 10);
  EXPECT_GT(lifted, 0.15);  // three are stacked
}

TEST_F(MjcfExport, JointsInFramesOfTheirOwnStartWhereTheyStart) {
  std::ofstream(folder_ / "ball.sdf") << R"(<sdf version="1.9"><model name="m">
  <link name="base"/><link name="bob"><pose>0.1 0.2 0.3 0 0.4 0</pose><inertial><mass>1</mass></inertial></link>
  <joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>
  <joint name="s" type="ball"><parent>base</parent><child>bob</child><pose>0 0 0.3 1 0.2 0.7</pose></joint></model></sdf>)";
  const scene::Scene scene = read(R"(deft: 1
directives: [{add_model: {name: m, file: ball.sdf}}]
step: {model: convex-second-order, h: 0.001}
configurations: {start: {m: [0.8, 0.6, 0, 0]}}
initial: start
)");
  load(scene);
  compare_poses(scene);
}

TEST_F(MjcfExport, KeepsLockedJointsAndTheDampingOfForceDrives) {
  std::ofstream(folder_ / "arm.urdf")
      << R"(<robot name="arm"><link name="world"/><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="b"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual name="c"><geometry><sphere radius="0.1"/></geometry></visual>
  <collision name="c"><geometry><sphere radius="0.1"/></geometry></collision>
  <collision name="c"><geometry><box size="1 1 1"/></geometry></collision></link>
  <joint name="locked" type="revolute"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/><limit lower="0" upper="0" effort="1" velocity="1"/></joint>
  <joint name="b" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint></robot>)";
  load(read(R"(deft: 1
directives: [{add_model: {name: arm, file: arm.urdf}}]
robots: [{name: arm, drive: force}]
step: {model: convex-second-order, h: 0.001, joint_damping: 3}
)"));
  const int locked = id(mjOBJ_JOINT, "arm/locked"), other = id(mjOBJ_JOINT, "arm/b");
  ASSERT_TRUE(model_->jnt_limited[locked]);
  EXPECT_LT(model_->jnt_range[2 * locked + 1] - model_->jnt_range[2 * locked], 1e-8);
  EXPECT_FALSE(model_->jnt_limited[other]);
  EXPECT_EQ(model_->dof_damping[model_->jnt_dofadr[other]], 3);
  EXPECT_GE(id(mjOBJ_GEOM, "arm/b#c_1"), 0);  // the second of one name
}

TEST_F(MjcfExport, StatesWhatTheFormatCannotHold) {
  load(read(R"(
deft: 1
bodies:
  ball: {shape: {sphere: {radius: 0}}, mass: 0.3, inertia: [1e-3, 1e-3, 1e-3], joint: free}
  floor: {shape: {half_space: {normal: [0, 0, 2], offset: -0.02}}, joint: fixed}
wrenches: [{body: ball, force_W: [0, 0, -1]}]
)"));
  ASSERT_EQ(exported_.notes.size(), 2u);
  EXPECT_NE(exported_.notes[0].find("1 points"), std::string::npos) << exported_.notes[0];
  EXPECT_NE(exported_.notes[1].find("forces"), std::string::npos) << exported_.notes[1];
  step(0.6);
  EXPECT_NEAR(data_->xpos[3 * id(mjOBJ_BODY, "ball") + 2], -0.01, 1e-3);  // on the floor, at offset / |normal|
  const scene::Scene moving = read(R"(
deft: 1
bodies:
  board: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, mass: 1, inertia: [1, 1, 1], joint: {prismatic: [0, 0, 1]}}
)");
  EXPECT_THROW(export_mjcf(moving, folder_.string()), InputError);
}

}  // namespace mjcf_export_test
}  // namespace deft::exporters
#endif
