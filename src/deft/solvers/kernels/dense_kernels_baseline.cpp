#define DEFT_KERNEL_TABLE kDenseKernelsBaseline
#include "deft/solvers/kernels/dense_kernels.inc"
