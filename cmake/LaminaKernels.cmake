# SPDX-License-Identifier: Apache-2.0
# lamina_host_kernels(TARGET): one object for each row of src/kernel/combinations.h, precision and force, and a table of them.
# Each object is five #include lines: the same that the CUDA backend hands to its compiler.

function(lamina_host_kernels target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/kernels)
  set(list ${PROJECT_SOURCE_DIR}/src/kernel/combinations.h)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(READ ${list} content)
  string(REGEX MATCHALL "X\\(d[0-9]q[0-9]+, [a-z]+, [a-z0-9_]+\\)" rows "${content}")
  set(sources "")
  set(declarations "")
  set(entries "")
  foreach(row ${rows})
    string(REGEX MATCH "X\\(([a-z0-9]+), ([a-z]+), ([a-z0-9_]+)\\)" ignored "${row}")
    set(lattice ${CMAKE_MATCH_1})
    set(collision ${CMAKE_MATCH_2})
    set(text ${CMAKE_MATCH_3})
    foreach(precision f32 f64)
      foreach(force 0 1)
        set(suffix ${lattice}_${collision}_${precision}_${force})
        set(real float)
        if(precision STREQUAL f64)
          set(real double)
        endif()
        file(CONFIGURE OUTPUT ${folder}/kernel_${suffix}.c CONTENT
"/* Generated from src/kernel/combinations.h. */
#include \"kernel/prelude_host.h\"

#include \"kernel/naming.h\"

#include \"kernel/dense.h\"

#define LMK_SCALAR ${real}
#define LMK_REAL lmk_vector_${precision}
#define LMK_SUFFIX ${suffix}
#define LMK_FORCE ${force}
#include \"kernel/lattice_${lattice}.h\"
#include \"kernel/vectors_host.h\"
#include \"kernel/moments.h\"
#include \"kernel/${text}.h\"
#include \"kernel/rows_host.h\"
")
        list(APPEND sources ${folder}/kernel_${suffix}.c)
        string(APPEND declarations "lmk_update_rows_function lmk_update_rows_${suffix};\nlmk_update_run_function lmk_update_run_${suffix};\n")
        string(TOUPPER "LAMINA_${lattice}, LAMINA_${collision}, LAMINA_${precision}" key)
        string(APPEND entries "  {${key}, ${force}, lmk_update_rows_${suffix}, lmk_update_run_${suffix}},\n")
      endforeach()
    endforeach()
  endforeach()
  set(block_entries "")
  foreach(lattice d2q9 d3q19 d3q27)
    foreach(precision f32 f64)
      set(suffix ${lattice}_${precision})
      set(real float)
      if(precision STREQUAL f64)
        set(real double)
      endif()
      file(CONFIGURE OUTPUT ${folder}/blocks_${suffix}.c CONTENT
"/* Generated: how populations move between blocks. */
#include \"kernel/prelude_host.h\"

#include \"kernel/naming.h\"

#include \"kernel/dense.h\"

#include \"kernel/boundary_data.h\"
#include \"kernel/jump.h\"

#define LMK_REAL ${real}
#define LMK_SUFFIX ${suffix}
#include \"kernel/lattice_${lattice}.h\"
#include \"kernel/boundary.h\"
#include \"kernel/block_host.h\"
")
      list(APPEND sources ${folder}/blocks_${suffix}.c)
      string(APPEND declarations "lmk_update_blocks_function lmk_update_blocks_${suffix};\n")
      string(TOUPPER "LAMINA_${lattice}, LAMINA_${precision}" key)
      string(APPEND block_entries "  {${key}, lmk_update_blocks_${suffix}},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/cpu_kernel_table.h CONTENT
"/* Generated from src/kernel/combinations.h: declarations and rows of the table in cpu_table.c. */
${declarations}
#define LMI_CPU_KERNEL_ROWS \\
")
  string(REPLACE "\n" " \\\n" continued "${entries}")
  file(APPEND ${folder}/cpu_kernel_table.h "${continued}\n\n#define LMI_CPU_BLOCK_ROWS \\\n")
  string(REPLACE "\n" " \\\n" continued "${block_entries}")
  file(APPEND ${folder}/cpu_kernel_table.h "${continued}\n")
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE lamina_build_flags)
  target_compile_options(${target} PRIVATE -fvisibility=hidden -fopenmp-simd -Wno-psabi ${LAMINA_KERNEL_FLAGS})
  target_include_directories(${target} INTERFACE ${folder})
  if(LAMINA_SANITIZE MATCHES "undefined")
    # A check of each pointer of an unrolled kernel costs the compiler four times its time; addresses are still checked.
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS
      "-g1;-fno-sanitize=alignment,null,pointer-overflow,object-size")
  endif()
endfunction()

# The kernels of an x86-64 build are compiled once, for AVX2 and FMA: enough to reach the memory's speed. Under a sanitizer
# unrolled kernels take the compiler minutes and gain nothing.
set(LAMINA_KERNEL_FLAGS_DEFAULT -O3)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND LAMINA_KERNEL_FLAGS_DEFAULT -fno-tree-pre) # it spills what it saves: 3 % (docs/dev/performance.md)
endif()
if(LAMINA_SANITIZE)
  set(LAMINA_KERNEL_FLAGS_DEFAULT -O1)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND LAMINA_KERNEL_FLAGS_DEFAULT -march=x86-64-v3)
endif()
set(LAMINA_KERNEL_FLAGS "${LAMINA_KERNEL_FLAGS_DEFAULT}" CACHE STRING "Compiler flags of the row kernels")
