#define DEFT_KERNEL_TABLE kDenseKernelsAvx512
#include "deft/solvers/kernels/dense_kernels.inc"
