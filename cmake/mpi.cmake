# sago_mpi, and sago_mpi_fortran: the headers and libraries of one MPI.  Several may be installed side by side, so it is
# named: by its compiler wrapper (SAGO_MPICC), or by its family (SAGO_MPI), whose wrapper is called mpicc.FAMILY as Debian has
# it.  Without either it is what CMake's FindMPI finds, as for a compiler that brings MPI itself.  The family, which decides
# on handles and calls, is what mpi.h says.
#
#   mpich     MPICH and what shares its ABI: Intel MPI, Cray MPICH, MVAPICH2
#   openmpi   Open MPI

set(SAGO_MPI "" CACHE STRING "The family of the MPI library: mpich or openmpi; empty: what SAGO_MPICC or FindMPI has")
set_property(CACHE SAGO_MPI PROPERTY STRINGS "" mpich openmpi)
set(SAGO_MPICC "" CACHE STRING "Compiler wrapper of the MPI library")
set(SAGO_MPIEXEC "" CACHE STRING "Launcher of the MPI library")
if(NOT SAGO_MPI MATCHES "^(mpich|openmpi)?$")
    message(FATAL_ERROR "SAGO_MPI=${SAGO_MPI}: must be mpich or openmpi")
endif()

# ---- The wrapper and the launcher ----

set(mpi_wrapper_name ${SAGO_MPICC})
if(NOT SAGO_MPICC AND SAGO_MPI)
    set(mpi_wrapper_name mpicc.${SAGO_MPI})
endif()
if(mpi_wrapper_name)
    find_program(mpi_wrapper ${mpi_wrapper_name})
    if(NOT mpi_wrapper)
        message(FATAL_ERROR "There is no ${mpi_wrapper_name}: -DSAGO_MPICC=PATH names the compiler wrapper of an MPI library")
    endif()
    set(SAGO_MPICC ${mpi_wrapper})
else()
    find_package(MPI REQUIRED COMPONENTS C)
    set(SAGO_MPICC ${MPI_C_COMPILER})
    set(SAGO_MPIEXEC ${MPIEXEC_EXECUTABLE})
endif()
unset(mpi_wrapper CACHE)

# What stands beside mpicc: mpiexec beside /opt/mpi/bin/mpicc, mpiexec.mpich beside mpicc.mpich.
function(find_beside_mpicc result)
    get_filename_component(folder ${SAGO_MPICC} DIRECTORY)
    get_filename_component(name ${SAGO_MPICC} NAME)
    set(names "")
    foreach(wanted IN LISTS ARGN)
        string(REGEX REPLACE "^[a-z]*cc" ${wanted} beside ${name}) # mpicc, mpiicc, cc
        list(APPEND names ${beside})
    endforeach()
    find_program(${result} NAMES ${names} PATHS ${folder} NO_DEFAULT_PATH)
endfunction()

if(NOT SAGO_MPIEXEC)
    unset(SAGO_MPIEXEC CACHE)
    find_beside_mpicc(SAGO_MPIEXEC mpiexec mpirun)
endif()

# ---- Targets ----

# An interface target with what a compiler wrapper adds.
function(add_mpi_target target export_name wrapper)
    execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(words UNIX_COMMAND "${words}")
    list(POP_FRONT words) # the compiler

    set(mpi_includes "")
    set(mpi_folders "")
    set(mpi_libraries "")
    set(mpi_options "")
    foreach(word IN LISTS words)
        if(word MATCHES "^-I(.+)")
            list(APPEND mpi_includes ${CMAKE_MATCH_1})
        elseif(word MATCHES "^-L(.+)")
            list(APPEND mpi_folders ${CMAKE_MATCH_1})
        elseif(word MATCHES "^-l(.+)")
            # By its full path: /usr/lib may hold a libmpi.so of another MPI.
            set(name ${CMAKE_MATCH_1})
            find_library(mpi_path ${name} PATHS ${mpi_folders} NO_DEFAULT_PATH)
            if(mpi_path)
                list(APPEND mpi_libraries ${mpi_path})
            else()
                list(APPEND mpi_libraries ${name})
            endif()
            unset(mpi_path CACHE)
        elseif(word MATCHES "^-(Wl,|pthread)")
            list(APPEND mpi_options ${word})
        endif()
    endforeach()

    add_library(${target} INTERFACE)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name})
    target_include_directories(${target} SYSTEM INTERFACE ${mpi_includes})
    target_link_libraries(${target} INTERFACE ${mpi_libraries})
    target_link_options(${target} INTERFACE ${mpi_options})
endfunction()

if(MPI_C_FOUND) # by FindMPI
    add_library(sago_mpi INTERFACE)
    set_target_properties(sago_mpi PROPERTIES EXPORT_NAME mpi)
    target_include_directories(sago_mpi SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
    target_link_libraries(sago_mpi INTERFACE ${MPI_C_LIBRARIES})
    separate_arguments(mpi_link_options UNIX_COMMAND "${MPI_C_LINK_FLAGS}")
    target_link_options(sago_mpi INTERFACE ${mpi_link_options})
else()
    add_mpi_target(sago_mpi mpi ${SAGO_MPICC})
endif()

# ---- What mpi.h says ----

# The numbers of versions stand in strings, so that the compiler's own output need not be understood.
set(asked ${PROJECT_BINARY_DIR}/which_mpi.c)
file(WRITE ${asked} "#include <mpi.h>
#ifdef OMPI_MAJOR_VERSION
sago_says openmpi \"Open MPI\" OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(I_MPI_VERSION)
sago_says mpich \"Intel MPI\" I_MPI_VERSION
#elif defined(CRAY_MPICH_VERSION)
sago_says mpich \"Cray MPICH\" CRAY_MPICH_VERSION
#elif defined(MVAPICH2_VERSION)
sago_says mpich \"MVAPICH2\" MVAPICH2_VERSION
#elif defined(MPICH_VERSION)
sago_says mpich \"MPICH\" MPICH_VERSION
#endif
")
get_target_property(mpi_includes sago_mpi INTERFACE_INCLUDE_DIRECTORIES)
set(mpi_flags "")
if(mpi_includes)
    list(TRANSFORM mpi_includes PREPEND "-I" OUTPUT_VARIABLE mpi_flags)
endif()
execute_process(COMMAND ${CMAKE_C_COMPILER} ${mpi_flags} -E -P ${asked} OUTPUT_VARIABLE said RESULT_VARIABLE failed)
if(failed OR NOT said MATCHES "sago_says ([a-z]+) ([^\n]*)")
    message(FATAL_ERROR "The mpi.h of ${SAGO_MPICC} is neither of MPICH's family nor Open MPI's")
endif()
set(mpi_family ${CMAKE_MATCH_1})
string(REPLACE "\"" "" SAGO_MPI_VERSION "${CMAKE_MATCH_2}")
string(REGEX REPLACE " *[.] *" "." SAGO_MPI_VERSION "${SAGO_MPI_VERSION}")
if(SAGO_MPI AND NOT SAGO_MPI STREQUAL mpi_family)
    message(FATAL_ERROR "SAGO_MPI=${SAGO_MPI}, but ${SAGO_MPICC} is ${SAGO_MPI_VERSION}, of the family ${mpi_family}")
endif()
set(SAGO_MPI ${mpi_family})
message(STATUS "MPI: ${SAGO_MPI_VERSION}, ${SAGO_MPICC}")
