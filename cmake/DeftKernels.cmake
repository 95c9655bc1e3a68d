# The hot kernels of the solvers, once per instruction set. They see no Eigen and no library headers, only raw pointers, so code
# for different instruction sets never shares an inline function or an allocation; isa.cpp chooses among them at run time.
function(deft_kernels isa)
  add_library(deft_kernels_${isa} OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/src/deft/solvers/kernels/dense_kernels_${isa}.cpp)
  target_include_directories(deft_kernels_${isa} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_compile_options(deft_kernels_${isa} PRIVATE -Wall -Wextra $<$<BOOL:${DEFT_WARNINGS_ARE_ERRORS}>:-Werror> -fvisibility=hidden -fno-math-errno -Wno-psabi ${ARGN})
  if(NOT DEFT_SANITIZE)
    target_compile_options(deft_kernels_${isa} PRIVATE -O3)
  endif()
  target_sources(deft_solvers_kernels PRIVATE $<TARGET_OBJECTS:deft_kernels_${isa}>)
endfunction()

deft_kernels(baseline -ffp-contract=off)
deft_kernels(avx2 -mavx2 -mfma -ffp-contract=fast)
deft_kernels(avx512 -mavx512f -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512 -ffp-contract=fast)
