# Means to compile less: precompiled headers, and several sources of a module in one translation unit. Both can be turned off, and the preset `asan` does so: there a missing #include shows.
option(DEFT_PRECOMPILED_HEADERS "Precompile Eigen, fmt, JSON and the standard library once" ON)
option(DEFT_UNITY "Compile the sources of a module together" ON)

# deft_precompiled_headers(TARGET HEADER libs…): a library that only holds HEADER, precompiled. PROGRAMS: for
# executables, whose code is not compiled for shared libraries; the compiler takes only what was precompiled alike.
function(deft_precompiled_headers target header)
  cmake_parse_arguments(H "PROGRAMS" "" "" ${ARGN})
  if(NOT DEFT_PRECOMPILED_HEADERS)
    return()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${target}.cpp CONTENT "")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/${target}.cpp)
  target_link_libraries(${target} PRIVATE deft_options ${H_UNPARSED_ARGUMENTS})
  if(H_PROGRAMS)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
  target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/${header})
endfunction()

deft_precompiled_headers(deft_headers precompiled.hpp Eigen3::Eigen fmt::fmt)
deft_precompiled_headers(deft_json_headers precompiled_json.hpp Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json)
deft_precompiled_headers(deft_cli_headers precompiled_cli.hpp Eigen3::Eigen fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
deft_precompiled_headers(deft_program_headers precompiled.hpp PROGRAMS Eigen3::Eigen fmt::fmt)

# deft_fast_build(TARGET [UNITY [BATCH n]] [HEADERS target]): TARGET takes its precompiled headers from deft_headers, or from
# another target with the same compiler options. UNITY compiles its sources together, BATCH (15: a whole module) at a time.
function(deft_fast_build target)
  cmake_parse_arguments(F "UNITY" "HEADERS;BATCH" "" ${ARGN})
  if(NOT F_BATCH)
    set(F_BATCH 15)
  endif()
  if(NOT F_HEADERS)
    set(F_HEADERS deft_headers)
  endif()
  if(DEFT_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${F_HEADERS})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    endif()
  endif()
  if(DEFT_UNITY AND F_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${F_BATCH})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)  # of types that one source keeps to itself
  endif()
endfunction()
