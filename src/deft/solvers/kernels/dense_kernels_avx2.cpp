#define DEFT_KERNEL_TABLE kDenseKernelsAvx2
#include "deft/solvers/kernels/dense_kernels.inc"
