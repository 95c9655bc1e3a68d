#pragma once
// Distances of one point from many ellipsoids, each with a centre and a factor of its own: raw pointers and sizes.

namespace deft::solvers::kernels {

/// Entries of a point, in this order: quaternions [w x y z], angles modulo 2π [rad], plain numbers. Errors have three
/// entries per quaternion and one for each of the others.
struct EllipsoidShape {
  static constexpr int kMostErrors = 48;  // the most entries that an error may have

  int quaternions = 0, angles = 0, numbers = 0;  // how many of each

  /// Entries of a point.
  int entries() const { return 4 * quaternions + angles + numbers; }
  /// Entries of an error.
  int errors() const { return 3 * quaternions + angles + numbers; }
  /// Numbers per ellipsoid: its centre, and the rows of its lower triangular factor one after the other.
  int stride() const { return entries() + errors() * (errors() + 1) / 2; }
};

/// The kernels of one instruction set. None allocates; all may be called from many threads.
struct EllipsoidKernels {
  /// d_j = ‖F_j e_j‖² with e_j from the centre of ellipsoid j to x: rotations by Log(R_x R_jᵀ) (a polynomial of degree
  /// 22, relative error 3e-16), angles modulo 2π. Ellipsoids lie in `blocks` blocks of kLane: entry i of ellipsoid j of
  /// a block is at block[i * kLane + j]. @pre shape.errors() ≤ kMostErrors, quaternions of unit norm.
  /// @param x  shape.entries() numbers. @param d  blocks * kLane numbers. @returns the least of them that is a number,
  /// infinity if none is.
  double (*distances)(const EllipsoidShape& shape, int blocks, const double* data, const double* x, double* d);
};

}  // namespace deft::solvers::kernels
