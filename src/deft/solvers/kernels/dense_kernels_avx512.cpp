#define DEFT_KERNEL_TABLE kDenseKernelsAvx512
#include "deft/solvers/kernels/dense_kernels.inc"
#define DEFT_ELLIPSOID_TABLE kEllipsoidKernelsAvx512
#include "deft/solvers/kernels/ellipsoid_kernels.inc"
