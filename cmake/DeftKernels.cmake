# Filled by the solvers: hot kernels, one hidden-visibility object library per instruction set.
