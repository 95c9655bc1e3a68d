#pragma once

#include <string_view>

#include "deft/solvers/kernels/dense_kernels.hpp"
#include "deft/solvers/kernels/ellipsoid_kernels.hpp"

namespace deft::solvers::kernels {

/// Name of the instruction set whose kernels this process uses: "baseline", "avx2" or "avx512". The best one the
/// processor has, or the one that the environment variable DEFT_ISA names. @throws InputError if DEFT_ISA names
/// an unknown or unavailable one.
std::string_view active_isa();

/// The kernels of active_isa(), for the whole life of the process. @throws as active_isa.
const DenseKernels& dense_kernels();
/// The same of ellipsoids. @throws as active_isa.
const EllipsoidKernels& ellipsoid_kernels();

}  // namespace deft::solvers::kernels
