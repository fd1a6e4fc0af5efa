# sago_mpi, and sago_mpi_fortran: the headers and libraries of one MPI, as its own compiler wrappers name them.  Several MPIs may be
# installed side by side, so nothing is guessed: SAGO_MPI says which one, and only its wrapper is asked.

set(SAGO_MPI mpich CACHE STRING "The MPI library to build with: mpich or openmpi")
set_property(CACHE SAGO_MPI PROPERTY STRINGS mpich openmpi)
if(NOT SAGO_MPI MATCHES "^(mpich|openmpi)$")
    message(FATAL_ERROR "SAGO_MPI=${SAGO_MPI}: must be mpich or openmpi")
endif()
find_program(SAGO_MPICC mpicc.${SAGO_MPI} DOC "Compiler wrapper of the MPI library" REQUIRED)
find_program(SAGO_MPIEXEC mpiexec.${SAGO_MPI} DOC "Launcher of the MPI library" REQUIRED)

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
            find_library(mpi_path ${name} PATHS ${mpi_folders} NO_DEFAULT_PATH NO_CACHE)
            if(NOT mpi_path)
                set(mpi_path ${name})
            endif()
            list(APPEND mpi_libraries ${mpi_path})
            unset(mpi_path)
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

add_mpi_target(sago_mpi mpi ${SAGO_MPICC})
