// MJCF files as deft reads them and as MuJoCo compiles them: bodies, joints, masses, inertia, geometries, and which
// pairs may collide, at the reference configuration and at drawn ones.
#ifdef DEFT_HAS_MUJOCO
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "deft/io/scene/scene_file.hpp"
#include "deft/plant/mujoco_library.hpp"
#include "plant/mujoco_functions.hpp"

namespace deft::plant {
namespace mjcf_oracle_test {

using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double kClose = 1e-9, kOfMeshes = 1e-6;  // of the largest number of its kind

RigidTransform pose(const mjtNum* p, const mjtNum* quat) {
  return make_transform(rotation_from_quat_wxyz(Eigen::Vector4d(quat)), Vector3d(p));
}

/// One file, read by both.
class MjcfOracle : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) / (std::string(test->name()) + ".xml");
  }
  void TearDown() override {
    std::filesystem::remove(path_);
    for (const std::string& file : beside_) std::filesystem::remove(path_.parent_path() / file);
  }

  /// Another file beside the one that is read. @returns its name.
  std::string write_beside(const std::string& name, const std::string& text) {
    beside_.push_back(path_.stem().string() + "_" + name + ".xml");
    std::ofstream(path_.parent_path() / beside_.back()) << text;
    return beside_.back();
  }

  void read(const std::string& text) {
    std::ofstream(path_) << text;
    char message[1000] = "";
    model_.reset(DEFT_OF_MUJOCO(mj_loadXML)(path_.c_str(), nullptr, message, sizeof message));
    ASSERT_NE(model_, nullptr) << message;
    data_.reset(mujoco().mj_makeData(model_.get()));
    Diagnostics diagnostics;
    scene_ = std::make_unique<scene::Scene>(io::load_scene(path_.string(), {}, diagnostics));
    model_name_ = scene_->spec().world.models.front().name;
    kinematics_ = std::make_unique<multibody::Kinematics>(scene_->model().make_kinematics());
  }

  std::string name(mjtObj kind, int index) const {
    const char* const found = DEFT_OF_MUJOCO(mj_id2name)(model_.get(), kind, index);
    return found == nullptr ? "" : found;
  }
  /// deft's body of a body of MuJoCo.
  int body(int index) const {
    if (index == 0) return 0;
    const std::string own = name(mjOBJ_BODY, index);
    return scene_->model().find_body(model_name_ + "/" + (own.empty() ? "body_" + std::to_string(index) : own));
  }
  /// Index of the velocity of an axis.
  int velocity(const std::string& joint) const {
    const auto all = scene_->model().velocities();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].name == model_name_ + "/" + joint) return static_cast<int>(i);
    return -1;
  }
  /// First index in q, and in velocities, of the free body or ball joint whose coordinates begin so.
  std::pair<int, int> block(const std::string& prefix) const {
    std::pair<int, int> found{-1, -1};
    const auto q = scene_->model().coordinates();
    for (std::size_t i = 0; i < q.size(); ++i)
      if (q[i].name == prefix + "/qw") found.first = static_cast<int>(i);
    const auto v = scene_->model().velocities();
    for (std::size_t i = 0; i < v.size(); ++i)
      if (v[i].name == prefix + "/wx") found.second = static_cast<int>(i);
    return found;
  }
  std::string free_name(int joint) const {
    const std::string link = name(mjOBJ_BODY, model_->jnt_bodyid[joint]);
    return block(model_name_).first >= 0 ? model_name_ : model_name_ + "/" + link;
  }

  /// deft's q and velocities for MuJoCo's qpos and qvel.
  void translate(const VectorXd& qpos, const VectorXd& qvel, VectorXd& q, VectorXd& v) const {
    q = scene_->model().default_configuration();
    v = VectorXd::Zero(scene_->nv());
    for (int j = 0; j < model_->njnt; ++j) {
      const int at = model_->jnt_qposadr[j], at_v = model_->jnt_dofadr[j];
      if (model_->jnt_type[j] == mjJNT_FREE) {
        const auto [first_q, first_v] = block(free_name(j));
        ASSERT_GE(first_q, 0) << free_name(j);
        q.segment<4>(first_q) = qpos.segment<4>(at + 3);
        q.segment<3>(first_q + 4) = qpos.segment<3>(at);
        v.segment<3>(first_v) = rotation_from_quat_wxyz(qpos.segment<4>(at + 3)) * qvel.segment<3>(at_v + 3);
        v.segment<3>(first_v + 3) = qvel.segment<3>(at_v);
      } else if (model_->jnt_type[j] == mjJNT_BALL) {
        const auto [first_q, first_v] = block(model_name_ + "/" + name(mjOBJ_JOINT, j));
        ASSERT_GE(first_q, 0) << name(mjOBJ_JOINT, j);
        q.segment<4>(first_q) = qpos.segment<4>(at);
        v.segment<3>(first_v) = rotation_from_quat_wxyz(qpos.segment<4>(at)) * qvel.segment<3>(at_v);
      } else {
        const int i = velocity(name(mjOBJ_JOINT, j));
        ASSERT_GE(i, 0) << name(mjOBJ_JOINT, j);
        q(scene_->model().velocities()[i].q_index) = qpos(at);
        v(i) = qvel(at_v);
      }
    }
  }

  VectorXd drawn_qpos(std::mt19937& draw) const {
    std::uniform_real_distribution<double> uniform(-1, 1);
    VectorXd qpos(model_->nq);
    for (int i = 0; i < qpos.size(); ++i) qpos(i) = uniform(draw);
    for (int j = 0; j < model_->njnt; ++j) {
      const int at = model_->jnt_qposadr[j];
      if (model_->jnt_type[j] == mjJNT_FREE) qpos.segment<4>(at + 3).normalize();
      if (model_->jnt_type[j] == mjJNT_BALL) qpos.segment<4>(at).normalize();
    }
    return qpos;
  }

  /// Poses of the bodies and the kinetic energy of drawn velocities.
  void compare_at(const VectorXd& qpos, std::mt19937& draw) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    VectorXd qvel(model_->nv), q, v;
    for (int i = 0; i < qvel.size(); ++i) qvel(i) = uniform(draw);
    std::copy(qpos.begin(), qpos.end(), data_->qpos);
    DEFT_OF_MUJOCO(mj_fwdPosition)(model_.get(), data_.get());
    translate(qpos, qvel, q, v);
    scene_->model().update(q, *kinematics_);
    for (int b = 1; b < model_->nbody; ++b) {
      ASSERT_GE(body(b), 0) << name(mjOBJ_BODY, b);
      const RigidTransform theirs = pose(data_->xpos + 3 * b, data_->xquat + 4 * b);
      EXPECT_LT((kinematics_->X_WB[body(b)].matrix() - theirs.matrix()).cwiseAbs().maxCoeff(), kClose)
          << name(mjOBJ_BODY, b);
    }
    Eigen::MatrixXd M;
    scene_->model().mass_matrix(*kinematics_, M);
    VectorXd momentum(model_->nv);
    mujoco().mj_mulM(model_.get(), data_.get(), momentum.data(), qvel.data());
    const double theirs = 0.5 * qvel.dot(momentum), ours = 0.5 * v.dot(M * v);
    EXPECT_NEAR(ours, theirs, (has_meshes() ? kOfMeshes : kClose) * std::abs(theirs));
  }

  bool has_meshes() const { return model_->nmesh > 0; }

  void compare_keyframe(int key);

  void compare_joints() {
    for (int j = 0; j < model_->njnt; ++j) {
      if (model_->jnt_type[j] < mjJNT_SLIDE) continue;
      const multibody::VelocityInfo& axis = scene_->model().velocities()[velocity(name(mjOBJ_JOINT, j))];
      const bool limited = model_->jnt_limited[j] != 0;
      EXPECT_NEAR(limited ? axis.lower : 0, limited ? model_->jnt_range[2 * j] : 0, kClose) << axis.name;
      EXPECT_NEAR(limited ? axis.upper : 0, limited ? model_->jnt_range[2 * j + 1] : 0, kClose) << axis.name;
      EXPECT_EQ(std::isfinite(axis.upper), limited) << axis.name;
    }
  }

  /// Places and sizes of the geometries by name, in the body frame.
  void compare_geometries() {
    for (const multibody::LinkSpec& link : scene_->spec().world.models.front().links) {
      for (const auto* list : {&link.collisions, &link.visuals}) {
        for (const multibody::GeometrySpec& ours : *list) {
          const int g = mujoco().mj_name2id(model_.get(), mjOBJ_GEOM, ours.name.c_str());
          if (g < 0) continue;
          RigidTransform theirs = pose(model_->geom_pos + 3 * g, model_->geom_quat + 4 * g);
          const mjtNum* const size = model_->geom_size + 3 * g;
          if (const auto* sphere = std::get_if<multibody::SphereSpec>(&ours.shape)) {
            EXPECT_DOUBLE_EQ(sphere->radius, size[0]);
          } else if (const auto* capsule = std::get_if<multibody::CapsuleSpec>(&ours.shape)) {
            EXPECT_DOUBLE_EQ(capsule->radius, size[0]);
            EXPECT_DOUBLE_EQ(capsule->length, 2 * size[1]);
          } else if (const auto* cylinder = std::get_if<multibody::CylinderSpec>(&ours.shape)) {
            EXPECT_DOUBLE_EQ(cylinder->radius, size[0]);
            EXPECT_DOUBLE_EQ(cylinder->length, 2 * size[1]);
          } else if (const auto* box = std::get_if<multibody::BoxSpec>(&ours.shape)) {
            EXPECT_LT((box->size - 2 * Vector3d(size)).norm(), kClose);
          } else if (const auto* ellipsoid = std::get_if<multibody::EllipsoidSpec>(&ours.shape)) {
            EXPECT_LT((ellipsoid->radii - Vector3d(size)).norm(), kClose);
          } else if (std::holds_alternative<multibody::MeshSpec>(ours.shape)) {
            const int m = model_->geom_dataid[g];
            theirs = theirs * pose(model_->mesh_pos + 3 * m, model_->mesh_quat + 4 * m).inverse();
          }
          const bool is_mesh = std::holds_alternative<multibody::MeshSpec>(ours.shape);
          EXPECT_LT((ours.X_LG.matrix() - theirs.matrix()).cwiseAbs().maxCoeff(), is_mesh ? kOfMeshes : kClose)
              << ours.name;
          ++geometries_;
        }
      }
    }
  }

  using Pairs = std::set<std::pair<std::string, std::string>>;
  static void insert(std::string a, std::string b, Pairs& pairs) {
    if (b < a) std::swap(a, b);
    pairs.emplace(std::move(a), std::move(b));
  }
  /// With a margin that no distance reaches, every pair that may collide does.
  void compare_pairs() {
    constexpr double kFar = 100;
    Pairs ours, theirs;
    std::fill_n(model_->geom_margin, model_->ngeom, kFar);
    for (int p = 0; p < model_->npair; ++p) model_->pair_margin[p] = kFar;
    std::copy_n(model_->qpos0, model_->nq, data_->qpos);
    DEFT_OF_MUJOCO(mj_fwdPosition)(model_.get(), data_.get());
    for (int c = 0; c < data_->ncon; ++c)
      insert(name(mjOBJ_GEOM, data_->contact[c].geom[0]), name(mjOBJ_GEOM, data_->contact[c].geom[1]), theirs);
    scene::SceneState state = scene_->make_state();
    scene_->update(scene_->initial_configuration(), state);
    scene_->find_contacts(kFar, state);
    const auto own = [&](int geometry) {
      const std::string& full = scene_->collision_world().geometries()[geometry].name;
      const std::string name = full.substr(full.find('#') + 1);
      return name.starts_with("collision_") ? std::string() : name;  // without one in the file
    };
    for (const collision::ContactPair& contact : state.contacts)
      insert(own(contact.geometry_a), own(contact.geometry_b), ours);
    EXPECT_EQ(ours, theirs);
  }

  void compare() {
    std::mt19937 draw(7);
    ASSERT_EQ(scene_->nq(), model_->nq);
    ASSERT_EQ(scene_->nv(), model_->nv);
    compare_at(Eigen::Map<const VectorXd>(model_->qpos0, model_->nq), draw);
    for (int k = 0; k < 5; ++k) compare_at(drawn_qpos(draw), draw);
    compare_joints();
    compare_geometries();
  }

  std::filesystem::path path_;
  std::vector<std::string> beside_;
  ModelPointer model_;
  DataPointer data_;
  std::unique_ptr<scene::Scene> scene_;
  std::unique_ptr<multibody::Kinematics> kinematics_;
  std::string model_name_;
  int geometries_ = 0;  // compared
};

/// The configuration of a keyframe by its name is that of MuJoCo.
void MjcfOracle::compare_keyframe(int key) {
  Diagnostics diagnostics;
  const scene::Scene at_key = io::load_scene(
      path_.string(),
      {.overlays = {}, .settings = {"initial=" + name(mjOBJ_KEY, key)}, .package_paths = {}, .bundled_scenes = {}},
      diagnostics);
  VectorXd q, v;
  const Eigen::Map<const VectorXd> qpos(model_->key_qpos + static_cast<std::ptrdiff_t>(key) * model_->nq, model_->nq);
  translate(qpos, VectorXd::Zero(model_->nv), q, v);
  EXPECT_LT((at_key.initial_configuration() - q).cwiseAbs().maxCoeff(), kClose) << name(mjOBJ_KEY, key);
}

TEST_F(MjcfOracle, OrientationsFramesClassesAndLimits) {
  read(R"(<mujoco model="arm">
  <compiler angle="degree" eulerseq="XyZ"/>
  <default>
    <geom density="700" size="0.03"/>
    <joint damping="0.1" armature="0.02"/>
    <default class="upper">
      <joint axis="0 1 0" range="-40 50"/>
      <geom type="capsule" size="0.02 0.1"/>
      <default class="upper_free"><joint limited="false"/></default>
    </default>
  </default>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.3" euler="10 20 30">
      <geom name="base_box" type="box" size="0.1 0.2 0.05" axisangle="1 2 3 40"/>
      <body name="one" childclass="upper" pos="0 0 0.1" xyaxes="1 0.2 0 0.1 1 0.3">
        <joint name="j1"/>
        <geom name="upper_capsule" fromto="0 0 0 0.1 0.2 0.3"/>
        <frame pos="0.1 0 0" zaxis="1 1 1">
          <geom name="framed" class="main" type="ellipsoid" size="0.01 0.02 0.03" pos="0 0 0.1"/>
          <body name="two" pos="0 0 0.2">
            <joint name="j2" class="upper_free" pos="0.01 0.02 0.03" axis="1 1 0"/>
            <geom name="default_sphere" class="main" mass="0.3"/>
            <body name="three" quat="1 2 3 4"><joint name="j3" type="slide" range="-0.1 0.2"/>
              <inertial pos="0.01 0 0" mass="0.4" fullinertia="0.01 0.02 0.025 0.001 0.002 0.003"/>
              <geom name="cylinder" type="cylinder" size="0.02 0.07"/></body>
          </body>
        </frame>
      </body>
    </body>
  </worldbody></mujoco>)");
  compare();
  EXPECT_EQ(geometries_, 10);
}

TEST_F(MjcfOracle, JointsOfEveryKindTogetherWithReferences) {
  read(R"(<mujoco model="many">
  <compiler angle="radian" balanceinertia="true" boundmass="0.01" boundinertia="0.0001"/>
  <worldbody>
    <body name="walker" pos="0 0 1">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="z" type="slide" axis="0 0 1" ref="1"/>
      <joint name="pitch" axis="0 1 0" pos="0 0 0.2" ref="0.3" range="-2 2"/>
      <joint name="roll" axis="1 0 0" pos="0 0.1 0" armature="0.05"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0 0 0.5"/>
      <body name="leg" pos="0 0 -0.1"><joint name="hip" type="ball" pos="0 0 0.05" armature="0.03"/>
        <geom type="box" size="0.02 0.03 0.2"/>
        <body name="foot" pos="0 0 -0.2"><joint name="toe" axis="0 1 0"/><inertial mass="0.1" pos="0 0 0" diaginertia="0.001 0.001 0.01"/></body>
      </body>
    </body>
    <body name="ball_one" pos="1 0 1" quat="1 1 0 0"><freejoint/><geom size="0.1"/></body>
    <body name="ball_two" pos="2 0 1"><joint name="float" type="free" armature="0.1"/><geom type="box" size="0.1 0.2 0.3" pos="0.05 0 0"/></body>
  </worldbody></mujoco>)");
  compare();
}

TEST_F(MjcfOracle, MeshesOfPointsWithTheirInertias) {
  const char* const points =
      R"(vertex="0 0 0 1 0 0 0 1 0 0 0 1 0.2 0.2 0.2" face="0 2 1 0 1 3 0 3 2 1 2 4 2 3 4 3 1 4")";
  read(std::string(R"(<mujoco model="meshes"><asset>
    <mesh name="legacy" scale="0.1 0.2 0.3" refpos="0.1 0.2 0.3" refquat="1 0.1 0.2 0.3" )") +
       points + R"(/>
    <mesh name="exact" inertia="exact" scale="0.1 0.1 0.1" )" +
       points + R"(/>
    <mesh name="shell" inertia="shell" scale="0.1 0.1 0.1" )" +
       points + R"(/>
    <mesh name="hull" inertia="convex" scale="0.1 0.1 0.1" vertex="0 0 0 1 0 0 0 1 0 0 0 1 0.2 0.2 0.2"/></asset>
  <worldbody>
    <body name="a"><joint name="ja"/><geom name="g1" type="mesh" mesh="legacy" pos="0.1 0 0" euler="10 20 30"/></body>
    <body name="b" pos="1 0 0"><joint name="jb" axis="1 0 0"/><geom name="g2" type="mesh" mesh="exact" density="500"/></body>
    <body name="c" pos="2 0 0"><joint name="jc" axis="1 1 0"/><geom name="g3" type="mesh" mesh="shell" mass="0.2"/></body>
    <body name="d" pos="3 0 0"><freejoint/><geom name="g4" type="mesh" mesh="hull"/></body>
  </worldbody></mujoco>)");
  compare();
  EXPECT_EQ(geometries_, 8);
}

TEST_F(MjcfOracle, PairsThatMayCollide) {
  read(R"(<mujoco model="pairs">
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="dumb" pos="5 0 1"><geom size="0.1"/></body><body name="mute" pos="6 0 1"><geom size="0.1"/></body>
    <body name="post" pos="2 0 1"><geom name="post_box" type="box" size="0.1 0.1 1"/>
      <body name="arm" pos="0 0 1.5"><joint name="j1"/><geom name="arm_ball" size="0.1"/>
        <body name="tip" pos="0 0 0.5"><joint name="j2"/><geom name="tip_ball" size="0.1"/><geom name="tip_drawn" size="0.05" contype="0" conaffinity="0"/>
          <body name="nail" pos="0 0 0.2"><geom name="nail_ball" size="0.05"/></body></body></body></body>
    <body name="free_one" pos="0 0 1"><freejoint/><geom name="one" size="0.1" contype="2" conaffinity="4"/></body>
    <body name="free_two" pos="0 1 1"><freejoint/><geom name="two" size="0.1" contype="4" conaffinity="1"/></body>
    <body name="free_three" pos="0 2 1"><freejoint/><geom name="three" size="0.1"/></body>
    <body name="ghost" pos="0 3 1"><freejoint/><geom name="four" size="0.1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <contact>
    <exclude body1="free_three" body2="world"/>
    <exclude body1="free_three" body2="tip"/>
    <pair geom1="four" geom2="three" friction="0.7"/>
    <pair geom1="arm_ball" geom2="tip_ball"/>
  </contact></mujoco>)");
  compare_pairs();
  int with_own_friction = 0;
  const auto geometries = scene_->collision_world().geometries();
  for (int i = 0; i < static_cast<int>(geometries.size()); ++i)
    for (int j = 0; j < i; ++j) {
      if (scene_->friction(i, j).mu != 0.7) continue;
      ++with_own_friction;
      EXPECT_TRUE(geometries[i].name.ends_with("#four") && geometries[j].name.ends_with("#three"))
          << geometries[i].name;
    }
  EXPECT_EQ(with_own_friction, 1);
}

TEST_F(MjcfOracle, CopiesStandWhereTheyStandThere) {
  read(R"(<mujoco model="copies">
  <worldbody><body name="p" pos="1 0 0"><joint name="jp" axis="1 0 0"/><geom name="gp" size=".1"/>
    <replicate count="10" offset="0.1 0.2 0" euler="0 10 30" sep="-">
      <body name="b" pos="0 0 0.5"><joint name="j"/><geom name="g" size="0.05" pos="0.1 0 0"/></body>
      <geom name="h" size="0.02" pos="0.3 0 0"/>
      <replicate count="2" offset="0 0 1"><geom name="k" size="0.01"/></replicate>
    </replicate></body></worldbody></mujoco>)");
  compare();
  EXPECT_EQ(geometries_, 2 * (1 + 10 * 4));
}

TEST_F(MjcfOracle, DrivesAreStiffnessAndKeyframesConfigurations) {
  read(R"(<mujoco model="driven">
  <default><position kp="20" kv="2"/></default>
  <worldbody><body name="a"><joint name="ja" ref="30"/><geom size="0.1"/>
    <body name="b" pos="0 0 0.3"><joint name="jb" type="slide" damping="0.5"/><geom size="0.1"/></body></body>
    <body name="box" pos="1 0 0"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body></worldbody>
  <actuator><position name="pa" joint="ja" forcerange="-3 4" gear="2"/>
    <general name="pb" joint="jb" gainprm="50" biastype="affine" biasprm="0 -50 -5"/></actuator>
  <keyframe><key name="home" qpos="0.1 0.2 1 2 3 0 1 0 0"/></keyframe></mujoco>)");
  compare();
  const auto axes = scene_->model().velocities();
  EXPECT_DOUBLE_EQ(axes[velocity("ja")].stiffness, 80);
  EXPECT_DOUBLE_EQ(axes[velocity("ja")].damping, 8);
  EXPECT_DOUBLE_EQ(axes[velocity("ja")].effort_limit, 8);
  EXPECT_DOUBLE_EQ(axes[velocity("jb")].stiffness, 50);
  EXPECT_DOUBLE_EQ(axes[velocity("jb")].damping, 5.5);
  compare_keyframe(0);
}

TEST_F(MjcfOracle, AttachedModelsHangWhereTheyHangThere) {
  const std::string arm = write_beside("arm", R"(<mujoco model="arm">
  <compiler angle="radian"/>
  <default><geom density="500"/><default class="big"><geom size="0.1"/></default></default>
  <worldbody>
    <geom name="floor" type="box" size="1 1 .1" pos="0 0 -1"/>
    <frame pos="7 0 0"><body name="base" pos="0.1 0 0.5" euler="0 0 0.3" childclass="big">
      <joint name="j1" axis="0 0 1" range="-1 1" ref="0.2"/><joint name="j0" type="slide"/><joint name="jx" axis="1 0 0"/>
      <geom name="g1" type="sphere"/><site name="mark" pos="0 0 1"/>
      <body name="tip" pos="0.3 0 0"><joint name="j2" axis="0 1 0" stiffness="3"/><geom name="g2" size="0.05"/></body>
    </body></frame>
    <body name="other" pos="2 0 0"><geom size=".1"/></body>
  </worldbody>
  <contact><exclude body1="base" body2="other"/><pair geom1="g1" geom2="floor" friction="0.3"/></contact>
  <actuator><position name="p1" joint="j1" kp="10"/></actuator>
  <keyframe><key name="home" qpos="0.5 0.1 0.3 0.6"/></keyframe>
</mujoco>)");
  const std::string ball = write_beside("ball", R"(<mujoco model="ball"><worldbody>
    <body name="ball" pos="0 0 1"><freejoint name="free"/><geom size=".1"/></body></worldbody></mujoco>)");
  read(R"(<mujoco model="cart">
  <default><geom density="2000"/></default>
  <asset><model file=")" +
       arm + R"("/><model name="toy" file=")" + ball + R"("/></asset>
  <worldbody>
    <frame pos="0 0 3" euler="0 0 40"><attach model="toy" prefix="t_"/></frame>
    <body name="cart" pos="0 1 0.2"><joint name="s" type="slide" axis="1 0 0"/><geom size="0.2"/>
      <frame pos="0 0 1" euler="90 0 0">
        <attach model="arm" body="base" prefix="l_"/><attach model="arm" prefix="r_"/></frame>
      <body name="after"><joint name="ja"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><position joint="l_j2" kp="7"/></actuator>
</mujoco>)");
  compare();
  EXPECT_EQ(model_->njnt, 11);
  EXPECT_DOUBLE_EQ(scene_->model().velocities()[velocity("l_j2")].stiffness, 7);
  EXPECT_DOUBLE_EQ(scene_->model().velocities()[velocity("r_j1")].stiffness, 10);
  ASSERT_EQ(model_->nkey, 2);
  for (int key = 0; key < 2; ++key) compare_keyframe(key);
}

TEST_F(MjcfOracle, AttachedModelsOfTheWorldBringTheirGround) {
  const std::string room = write_beside("room", R"(<mujoco model="room"><worldbody>
    <geom type="plane" size="1 1 .1"/><geom name="shelf" type="box" size=".1 .2 .3" pos="1 0 0"/>
    <body name="door" pos="0 1 0"><joint name="hinge"/><geom size=".1"/></body></worldbody></mujoco>)");
  read(R"(<mujoco model="house"><asset><model file=")" + room + R"("/></asset>
  <worldbody><frame pos="1 2 3"><attach model="room" prefix="kitchen_"/></frame>
    <body name="b"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>)");
  compare();
  EXPECT_EQ(model_->ngeom, 4);
}

}  // namespace mjcf_oracle_test
}  // namespace deft::plant
#endif  // DEFT_HAS_MUJOCO
