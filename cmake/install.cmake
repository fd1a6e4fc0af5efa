# What `make install` installs.  A prefix holds Sago for one MPI: the first rule refuses to mix two.

install(CODE "
    set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/sago/config.h\")
    if(EXISTS \"\${installed}\")
        file(STRINGS \"\${installed}\" other REGEX \"define SAGO_MPI_NAME\")
        if(NOT other MATCHES \"\\\"${SAGO_MPI_NAME}\\\"\")
            string(REGEX REPLACE \"[^\\\"]*\\\"(.*)\\\".*\" \"\\\\1\" other \"\${other}\")
            message(FATAL_ERROR \"\${CMAKE_INSTALL_PREFIX} holds Sago for \${other}; Sago for ${SAGO_MPI_NAME} \"
                \"needs a prefix of its own: make install MPI=${SAGO_MPI} PREFIX=...\")
        endif()
    endif()
")

file(GLOB public_headers CONFIGURE_DEPENDS include/sago/*.h)
install(FILES ${public_headers} ${PROJECT_BINARY_DIR}/include/sago/config.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sago)
install(TARGETS sago sago_mpi EXPORT sagoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS sago_mpiio sago_gio sago_mpiio_core LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
# GIO's header as Sago serves it, in a folder of its own: its name is GIO's.
install(FILES dropin/gio/gio.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sago-gio)
install(TARGETS sago_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/sago.pc.in sago.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sago.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sago)
write_basic_package_version_file(sagoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_package_config_file(cmake/sagoConfig.cmake.in sagoConfig.cmake INSTALL_DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/sagoConfig.cmake ${PROJECT_BINARY_DIR}/sagoConfigVersion.cmake
    DESTINATION ${package_folder})
install(EXPORT sagoTargets NAMESPACE sago:: DESTINATION ${package_folder})

# Descriptions of machines; the library finds them from where it is itself, in a build tree as in any prefix.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/sago)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/machines ${PROJECT_BINARY_DIR}/share/sago/machines SYMBOLIC)
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/sago)

# The Python package, whose reader of checkpoints needs nothing else; it finds the library from where it is itself.
install(DIRECTORY bindings/python/sago DESTINATION ${CMAKE_INSTALL_DATADIR}/sago/python USE_SOURCE_PERMISSIONS
    FILES_MATCHING PATTERN "*.py")

foreach(section 1 5 7)
    file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# A man page for every call, made from the headers.
find_program(python3 python3)
if(python3)
    file(GLOB manual_sources CONFIGURE_DEPENDS include/sago/*.h)
    add_custom_command(OUTPUT man/made COMMAND ${CMAKE_COMMAND} -E rm -rf man/man3
        COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${python3} ${PROJECT_SOURCE_DIR}/tools/manual.py man man/man3
        COMMAND ${CMAKE_COMMAND} -E touch man/made
        DEPENDS ${manual_sources} docs/calls.txt tools/manual.py tools/headers.py)
    add_custom_target(manual_pages ALL DEPENDS man/made)
    install(DIRECTORY ${PROJECT_BINARY_DIR}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()

# To read, to begin with, and the Fortran sources for those whose compiler is another one.
file(GLOB documents CONFIGURE_DEPENDS docs/*.md)
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs) # as in the source, so that links lead somewhere
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} USE_SOURCE_PERMISSIONS)
install(DIRECTORY bindings/fortran DESTINATION ${CMAKE_INSTALL_DATADIR}/sago FILES_MATCHING PATTERN "*.f90" PATTERN "*.[ch]")

# For `module load`: copied, or linked, into a folder of MODULEPATH.
configure_file(packaging/modulefile.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${CMAKE_INSTALL_DATADIR}/sago)
