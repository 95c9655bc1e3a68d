#pragma once
// Derivatives where a solution is not isolated. Internal to solvers.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/mcp/matrix.hpp"

namespace deft::solvers::mcp {

/// (diag(a) + diag(b) J) X = R for matrices that are singular: unknowns that nothing determines get one of many values.
/// `determined` tells which do not, which are the rows of the null space that vanish. Dense; allocates. @returns
/// whether there is a solution.
bool solve_undetermined(const McpMatrix& J, const double* a, const double* b, const Eigen::MatrixXd& R,
                        Eigen::MatrixXd& X, std::vector<char>& determined);

}  // namespace deft::solvers::mcp
