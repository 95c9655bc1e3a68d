#pragma once
// A program over a horizon as other people's solvers take it.

#include "deft/solvers/horizon/horizon_program.hpp"
#include "rivals/rival.hpp"
#include "rivals/stage_rival.hpp"

namespace deft::benchmarks {

/// In the inputs u_0 … u_{T−1} and the violations e of soft rows: states put in, bounds as rows. Violations get a
/// curvature too small to be seen, since some solvers want Q positive definite. @pre no cost or bound of changes, no P
DenseProgram condensed(const solvers::horizon::HorizonQp& qp);

/// Stage by stage, with what the known first state means for the first one. @pre as `condensed`
StageProgram staged(const solvers::horizon::HorizonQp& qp);

}  // namespace deft::benchmarks
