# What `cmake --install` puts below its prefix, and the wheel takes from there: the program, the library with its headers and
# CMake files, scenes and scripts (share/deft). Pinocchio, Coal and MuJoCo stay where the build found them.
include(CMakePackageConfigHelpers)
install(TARGETS deft RUNTIME DESTINATION bin)
set_target_properties(deft PROPERTIES INSTALL_RPATH "$ORIGIN/../lib:${CMAKE_BUILD_RPATH}")
set_target_properties(deft_library PROPERTIES INSTALL_RPATH "${CMAKE_BUILD_RPATH}")
install(TARGETS deft_library EXPORT deftTargets LIBRARY DESTINATION lib)

# Headers that name a library which users need not have are ours alone.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR}/src/deft/*.hpp)
set(kept_back "<(nlohmann|tinyxml2|pinocchio|mujoco|hdf5|fmt)[/.]")
set(more TRUE)
while(more)
  set(more FALSE)
  foreach(header ${headers})
    file(STRINGS src/${header} found REGEX "^#include .*${kept_back}" LIMIT_COUNT 1)
    if(found)
      list(REMOVE_ITEM headers ${header})
      string(APPEND kept_back "|\"${header}\"")
      set(more TRUE)
    endif()
  endforeach()
endwhile()
foreach(header ${headers})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES src/${header} DESTINATION include/${folder})
endforeach()

set(config ${CMAKE_BINARY_DIR}/lib/cmake/deft)
configure_package_config_file(cmake/deftConfig.cmake.in ${config}/deftConfig.cmake INSTALL_DESTINATION lib/cmake/deft)
write_basic_package_version_file(${config}/deftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${config}/deftConfig.cmake ${config}/deftConfigVersion.cmake DESTINATION lib/cmake/deft)
install(EXPORT deftTargets NAMESPACE deft:: DESTINATION lib/cmake/deft)
export(EXPORT deftTargets NAMESPACE deft:: FILE ${config}/deftTargets.cmake)  # the build folder can be used, too

install(DIRECTORY scenes DESTINATION share/deft)
install(FILES src/deft/plant/drake_server.py DESTINATION share/deft/src/deft/plant)
install(FILES src/deft/collision/decomposition/coacd_parts.py DESTINATION share/deft/src/deft/collision/decomposition)
install(FILES LICENSE DESTINATION share/deft/licenses)
