# With -DSAGO_GIO=PREFIX: GIO's interface as Sago serves it (dropin/gio/gio.h) is compared with the GIO installed there,
# in both directions: what both say must be the same, and what GIO's header has must be in ours.

if(NOT SAGO_GIO)
    return()
endif()
set(gio_own ${PROJECT_SOURCE_DIR}/dropin/gio/gio.h)
set(gio_theirs ${SAGO_GIO}/include/gio.h)
if(NOT EXISTS ${gio_theirs})
    message(FATAL_ERROR "SAGO_GIO: there is no ${gio_theirs}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gio_own} ${gio_theirs})

execute_process(COMMAND ${SAGO_MPICC} -fsyntax-only -Werror "-DSAGO_GIO_HEADER=<${gio_theirs}>"
    ${PROJECT_SOURCE_DIR}/dropin/gio/compare/compare.c RESULT_VARIABLE gio_differs ERROR_VARIABLE gio_said)
if(gio_differs)
    message(FATAL_ERROR "GIO's interface has changed: ${gio_theirs} and dropin/gio/gio.h differ\n${gio_said}")
endif()

# Versions, and how GIO was built, are nobody's business.
file(READ ${gio_theirs} theirs)
string(REGEX REPLACE "/\\*([^*]|\\*[^/])*\\*/" "" theirs "${theirs}")
string(REGEX MATCHALL "GIO_E[A-Z_]+|GIO_[a-z_]+" gio_names "${theirs}")
list(REMOVE_DUPLICATES gio_names)
file(READ ${gio_own} own)
foreach(name IN LISTS gio_names)
    if(NOT own MATCHES "[^A-Za-z_]${name}[^A-Za-z_]")
        message(FATAL_ERROR "GIO's interface has grown: ${gio_theirs} has ${name}, dropin/gio/gio.h has not")
    endif()
endforeach()
