# Language, warnings, sanitizers: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# The compiler collects its garbage less often: a tenth of the time for up to a gigabyte more.
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-expand=200 --param ggc-min-heapsize=786432>")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
find_program(DEFT_CCACHE ccache)
if(DEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache keeps what was compiled with precompiled headers only if its settings say that their time stamps do not matter.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${DEFT_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

add_library(deft_options INTERFACE)
target_compile_options(deft_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  $<$<BOOL:${DEFT_WARNINGS_ARE_ERRORS}>:-Werror>)
# Designated initialisers leave fields at their defaults on purpose; -Wrestrict, -Wstringop-overflow
# and -Warray-bounds misfire on std::string in g++ 12 (GCC bug 105651).
target_compile_options(deft_options INTERFACE -Wno-missing-field-initializers "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")
# The sanitizers make Eigen pick an allocator of its own while the wheels use malloc; every target must agree (see
# ARCHITECTURE.md, hazards), so this definition is on in all builds.
target_compile_definitions(deft_options INTERFACE EIGEN_MALLOC_ALREADY_ALIGNED=1)
# tinyxml2 asks for this; precompiled headers serve every target only where all define the same.
target_compile_definitions(deft_options INTERFACE _FILE_OFFSET_BITS=64)
# No folder of this machine in what is passed on (assertions of headers name their files).
target_compile_options(deft_options INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_link_options(deft_options INTERFACE -Wl,--disable-new-dtags)
if(DEFT_SANITIZE)
  target_compile_options(deft_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(deft_options INTERFACE -fsanitize=address,undefined)
endif()
if(DEFT_COVERAGE)  # counters of several threads
  target_compile_options(deft_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(deft_options INTERFACE --coverage)
endif()
if(DEFT_FUZZ)  # what the fuzzer looks at to see which lines a file reached
  target_compile_options(deft_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# Fused multiply-adds would make results depend on the instruction set outside the kernels.
target_compile_options(deft_options INTERFACE -ffp-contract=off)

# Objects that own Eigen memory must not cross between code built for different instruction sets: the wheels are built
# for the baseline, so -march and -m<isa> may reach the raw-pointer kernels only.
function(deft_check_instruction_sets)
  foreach(flags "${CMAKE_CXX_FLAGS}" "$ENV{CXXFLAGS}" "${CMAKE_CXX_FLAGS_RELEASE}" "${CMAKE_CXX_FLAGS_DEBUG}")
    if(flags MATCHES "-march=|-mavx|-mfma|-mtune=native")
      message(FATAL_ERROR "deft: '${CMAKE_MATCH_0}' in the compiler flags corrupts memory shared with Pinocchio and Coal "
                          "(built for the x86-64 baseline). Remove it: the hot kernels choose their instruction set at run time.")
    endif()
  endforeach()
endfunction()
