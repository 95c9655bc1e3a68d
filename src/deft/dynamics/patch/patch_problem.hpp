#pragma once
// One step of the equivalent-contact-point model as plain data, and its answer: what problem files of kind `ecp` hold.

#include <array>
#include <vector>

#include "deft/dynamics/patch/patch_certificate.hpp"
#include "deft/dynamics/trajectory.hpp"

namespace deft::dynamics {

/// A convex shape on a body.
struct PatchShape {
  multibody::ShapeSpec shape;                        // not a capsule, not a mesh
  std::vector<Eigen::Vector3d> vertices;             // not empty: the convex hull of these, and `shape` is ignored [m]
  RigidTransform X_CG = RigidTransform::Identity();  // in its body's frame, whose origin is the centre of mass
  SourceLocation where;                              // for messages of errors
};

/// A rigid body with its state, in a frame at its centre of mass.
struct PatchProblemBody {
  std::vector<PatchShape> shapes;                     // none: it touches nothing
  double mass = 0;                                    // [kg]; 0: fixed
  Eigen::Matrix3d I_BCm_B = Eigen::Matrix3d::Zero();  // about the centre of mass, body axes [kg m²]
  PatchState start;                                   // at the start of the step
  PatchImpulse impulse;                               // over the step, gravity not included
};

/// Two shapes that may touch; one of the bodies moves.
struct PatchProblemPair {
  int a = 0, b = 0;                          // bodies
  int shape_a = 0, shape_b = 0;              // indices among the shapes of these bodies
  double mu = 0;                             // friction coefficient, ≥ 0
  std::array<double, 3> ellipsoid{1, 1, 1};  // e_t, e_o [-], e_r [m]
};

/// A step of length h from the states of its bodies.
struct PatchProblem {
  std::vector<PatchProblemBody> bodies;     // moving and fixed
  std::vector<PatchProblemPair> pairs;      // that may touch
  Eigen::Vector3d gravity_W{0, 0, -9.81};   // [m/s²]
  Eigen::Vector3d ellipsoid_axis{1, 0, 0};  // unit; e_t acts along its projection on the contact plane
  double h = 0.01;                          // [s]
};

/// The end of a pair: contact of shape a against shape b, n from b to a, impulses on a.
struct PatchProblemContact {
  PatchContact contact;                      // `pair` is the problem's
  ContactKind kind = ContactKind::kUnknown;  // of loaded contacts
  ContactState state = ContactState::kOpen;  // open without load
};

/// The end of the step.
struct PatchAnswer {
  solvers::Status status = solvers::Status::kNumericalFailure;  // confirmed by the certificate
  std::vector<PatchState> end;                    // of each body, fixed ones too; where they were if the step failed
  std::vector<PatchProblemContact> contacts;      // of each pair; none if the step failed
  solvers::contact::Certificate certificate;      // scaled
  double balance_Ns = 0, complementarity_Js = 0;  // unscaled: largest error of a balance of linear impulse [N s],
                                                  // largest p_n |gap| [N s m]
  double penetration_m = 0;                       // deepest of all pairs
  int iterations = 0, attempts = 0;               // linear systems solved; initial guesses tried
  double solve_us = 0;                            // time of the solver [µs]
  const char* method = "free";                    // of the solver that found the solution; free: nothing touches
};

}  // namespace deft::dynamics
