#define DEFT_KERNEL_TABLE kDenseKernelsAvx2
#include "deft/solvers/kernels/dense_kernels.inc"
#define DEFT_ELLIPSOID_TABLE kEllipsoidKernelsAvx2
#include "deft/solvers/kernels/ellipsoid_kernels.inc"
