#pragma once
// Derivatives where a solution is not isolated. Internal to solvers.

#include <Eigen/Core>
#include <vector>

#include "deft/solvers/mcp/matrix.hpp"

namespace deft::solvers::mcp {

/// Solves (diag(a) + diag(b) J) X = R, J n × n and singular, R n × k, by LU with exchanges of rows and columns:
/// unknowns that nothing determines get one of many values. `determined` (n entries) is 0 for them and 1 for the
/// others, whose rows of the null space vanish. Dense; allocates. @returns whether there is a solution; false for more
/// than 600 unknowns.
bool solve_undetermined(const McpMatrix& J, const double* a, const double* b, const Eigen::MatrixXd& R,
                        Eigen::MatrixXd& X, std::vector<char>& determined);

}  // namespace deft::solvers::mcp
