# Installed: headers, the two libraries, the tools, and a package config with stax::stax and stax::runtime.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(stax_install)
  set(targets stax_runtime)
  if(TARGET stax)
    list(APPEND targets stax)
  endif()
  # Imported targets carry no flags of this build: only include directories and the runtime library.
  foreach(target ${targets})
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                               INSTALL_RPATH "$ORIGIN")
  endforeach()
  install(TARGETS ${targets} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/stax DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
          PATTERN "*.h" PATTERN "*.inc")
  get_property(tools GLOBAL PROPERTY STAX_TOOL_TARGETS)
  if(tools)
    set_target_properties(${tools} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stax)
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/staxConfig.cmake.in ${CMAKE_BINARY_DIR}/staxConfig.cmake
                                INSTALL_DESTINATION ${config_dir}
                                PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/staxConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/staxConfig.cmake ${CMAKE_BINARY_DIR}/staxConfigVersion.cmake DESTINATION ${config_dir})
endfunction()
