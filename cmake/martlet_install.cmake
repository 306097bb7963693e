# Headers, archives and the CMake package: find_package(martlet CONFIG COMPONENTS server).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/martlet")

get_property(components GLOBAL PROPERTY MARTLET_COMPONENTS)
list(TRANSFORM components PREPEND martlet_ OUTPUT_VARIABLE targets)
install(TARGETS ${targets} EXPORT martletTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(EXPORT martletTargets NAMESPACE martlet:: DESTINATION "${package_dir}")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/martlet" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.hpp"
    PATTERN "*_internal.hpp" EXCLUDE
    PATTERN "sim" EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/martletConfig.cmake.in" "${PROJECT_BINARY_DIR}/martletConfig.cmake"
    INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break: the inline namespace and this test say so alike.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/martletConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/martletConfig.cmake" "${PROJECT_BINARY_DIR}/martletConfigVersion.cmake" DESTINATION "${package_dir}")
