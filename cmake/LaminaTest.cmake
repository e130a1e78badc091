# SPDX-License-Identifier: Apache-2.0
# lamina_test(NAME SOURCES test_NAME.c [more.c] [LABELS kind more...] [LIBRARIES targets] [NEEDS features] [RANKS counts]
#             [TIMEOUT seconds])
#
# Builds one cmocka program and registers one CTest entry for each of its cases, called KIND.NAME.case, where KIND is the first
# label (unit by default). A case runs in a process of its own, in its own scratch folder, for at most TIMEOUT seconds (10),
# tenfold under sanitizers. A case that calls skip() is shown as skipped; it prints its reason first. NEEDS hdf5: without
# LAMINA_HAVE_HDF5 every case is skipped for that reason. RANKS 1 2 4: each case is run by mpirun with each of these numbers of
# ranks, as KIND.NAME.case.N.
#
# Cases are the names inside cmocka_unit_test*(...) in the sources; editing a source configures again.

add_library(lamina_test_support STATIC ${PROJECT_SOURCE_DIR}/tests/support/failing_allocator.c
  ${PROJECT_SOURCE_DIR}/tests/support/recorded.c ${PROJECT_SOURCE_DIR}/tests/support/unpack_machine.c)
target_compile_definitions(lamina_test_support PRIVATE LAMINA_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_include_directories(lamina_test_support PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(lamina_test_support PUBLIC lamina_build_flags lamina_static_library lamina_dep::cmocka)

# One CTest entry; `missing` and `arg_...` are the caller's.
macro(lamina_add_case test)
  set(scratch ${PROJECT_BINARY_DIR}/scratch/${test})
  file(MAKE_DIRECTORY ${scratch})
  if(missing)
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -E echo "[  SKIPPED ] this build has no ${missing}")
  else()
    add_test(NAME ${test} COMMAND ${ARGN} WORKING_DIRECTORY ${scratch})
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
endmacro()

function(lamina_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LABELS;LIBRARIES;NEEDS;RANKS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 10)
  endif()
  if(LAMINA_SANITIZE)
    math(EXPR arg_TIMEOUT "10 * ${arg_TIMEOUT}")
  endif()
  list(GET arg_LABELS 0 kind)
  set(missing "")
  foreach(feature ${arg_NEEDS})
    string(TOUPPER ${feature} upper)
    if(NOT LAMINA_HAVE_${upper})
      list(APPEND missing ${feature})
    endif()
  endforeach()
  set(target test_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE lamina_test_support ${arg_LIBRARIES})
  target_compile_definitions(${target} PRIVATE
    LAMINA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LAMINA_PROGRAM="$<TARGET_FILE:lamina_program>")
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_dependencies(${target} lamina_program)

  foreach(source ${arg_SOURCES})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    file(STRINGS ${source} lines REGEX "cmocka_unit_test[a-z_]*\\([a-z0-9_]+")
    foreach(line ${lines})
      string(REGEX MATCHALL "cmocka_unit_test[a-z_]*\\([a-z0-9_]+" cases "${line}")
      foreach(case ${cases})
        string(REGEX REPLACE ".*\\(" "" case "${case}")
        if(NOT arg_RANKS)
          lamina_add_case(${kind}.${name}.${case} ${target} ${case})
        endif()
        foreach(ranks ${arg_RANKS})
          lamina_add_case(${kind}.${name}.${case}.${ranks} ${LAMINA_MPIEXEC} -n ${ranks} ${LAMINA_MPIEXEC_FLAGS}
            $<TARGET_FILE:${target}> ${case})
          set_tests_properties(${kind}.${name}.${case}.${ranks} PROPERTIES PROCESSORS ${ranks})
        endforeach()
      endforeach()
    endforeach()
  endforeach()
endfunction()
