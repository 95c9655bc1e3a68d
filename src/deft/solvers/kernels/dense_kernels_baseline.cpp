#define DEFT_KERNEL_TABLE kDenseKernelsBaseline
#include "deft/solvers/kernels/dense_kernels.inc"
#define DEFT_ELLIPSOID_TABLE kEllipsoidKernelsBaseline
#include "deft/solvers/kernels/ellipsoid_kernels.inc"
