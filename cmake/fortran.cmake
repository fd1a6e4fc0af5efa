# The Fortran modules sago and sago_f08, and the library behind them; built where the MPI has a Fortran compiler.
# Modules are the compiler's own format: programs are compiled with the same one.
string(REPLACE mpicc mpif90 fortran_wrapper "${SAGO_MPICC}")
find_program(SAGO_MPIFORT NAMES ${fortran_wrapper} mpif90.${SAGO_MPI} DOC "Fortran compiler wrapper of the MPI library")
include(CheckLanguage)
check_language(Fortran)
if(NOT SAGO_MPIFORT OR NOT CMAKE_Fortran_COMPILER)
    message(STATUS "No Fortran compiler: the Fortran modules are left out")
    return()
endif()
enable_language(Fortran)
add_mpi_target(sago_mpi_fortran mpi_fortran ${SAGO_MPIFORT})

set(modules ${PROJECT_BINARY_DIR}/include/sago/fortran)
file(GLOB fortran_sources CONFIGURE_DEPENDS bindings/fortran/*.f90 bindings/fortran/*.c)
add_library(sago_fortran SHARED ${fortran_sources})
add_library(sago::sago_fortran ALIAS sago_fortran)
set_target_properties(sago_fortran PROPERTIES OUTPUT_NAME sago-fortran Fortran_MODULE_DIRECTORY ${modules}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH "$ORIGIN")
target_compile_options(sago_fortran PRIVATE
    $<$<COMPILE_LANGUAGE:Fortran>:-Wall>
    $<$<COMPILE_LANGUAGE:C>:-Wno-missing-prototypes>) # sago.f90 declares the functions of the shim
target_include_directories(sago_fortran PUBLIC
    $<BUILD_INTERFACE:${modules}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sago/fortran>)
target_link_libraries(sago_fortran PUBLIC sago sago_mpi_fortran)

install(FILES ${modules}/sago.mod ${modules}/sago_f08.mod ${modules}/sago_checkpoints.mod
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sago/fortran)
install(TARGETS sago_fortran sago_mpi_fortran EXPORT sagoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/sago-fortran.pc.in sago-fortran.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sago-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
