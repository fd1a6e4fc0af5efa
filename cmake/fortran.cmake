# The Fortran modules sago and sago_f08, and the library behind them; built where the MPI has a Fortran compiler.
# Modules are the compiler's own format: programs are compiled with the same one.
option(SAGO_FORTRAN "Build the Fortran modules, where there is a Fortran compiler" ON)
if(NOT SAGO_FORTRAN)
    return()
endif()
find_beside_mpicc(SAGO_MPIFORT mpifort mpif90 ftn)
include(CheckLanguage)
check_language(Fortran)
if(NOT SAGO_MPIFORT OR NOT CMAKE_Fortran_COMPILER)
    message(STATUS "No Fortran compiler: the Fortran modules are left out")
    return()
endif()
enable_language(Fortran)

# Some MPIs install the wrapper without the modules; what it prints is then no command, or one that lacks them.
execute_process(COMMAND ${SAGO_MPIFORT} -show OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
    file(WRITE ${PROJECT_BINARY_DIR}/uses_mpi.f90 "program uses_mpi\nuse mpi_f08\nend program\n")
    execute_process(COMMAND ${SAGO_MPIFORT} -c uses_mpi.f90 -o uses_mpi.o WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
        OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE failed)
endif()
if(failed)
    message(STATUS "${SAGO_MPIFORT} has no module mpi_f08: the Fortran modules are left out")
    return()
endif()
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
# The C compiler may be of another make than the Fortran compiler, whose description of arrays it needs; after all others, since
# the folder holds the headers of a C compiler, too.
execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include/ISO_Fortran_binding.h
    OUTPUT_VARIABLE binding_header OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(IS_ABSOLUTE "${binding_header}")
    get_filename_component(binding_folder ${binding_header} DIRECTORY)
    target_compile_options(sago_fortran PRIVATE "$<$<COMPILE_LANGUAGE:C>:SHELL:-idirafter ${binding_folder}>")
endif()
target_include_directories(sago_fortran PUBLIC
    $<BUILD_INTERFACE:${modules}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sago/fortran>)
target_link_libraries(sago_fortran PUBLIC sago sago_mpi_fortran)

install(FILES ${modules}/sago.mod ${modules}/sago_f08.mod ${modules}/sago_checkpoints.mod ${modules}/sago_meshes.mod
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sago/fortran)
install(TARGETS sago_fortran sago_mpi_fortran EXPORT sagoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/sago-fortran.pc.in sago-fortran.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sago-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
