# SPDX-License-Identifier: Apache-2.0
# lamina_layer(NAME SOURCES a.c b.c [LIBRARIES imported targets])
# One folder of src/ as an object library. Headers of a layer are included as "file.h" inside it and as "layer/file.h" from
# above; scripts/check.py holds the arrows between layers.

set_property(GLOBAL PROPERTY LAMINA_LAYERS "")
set_property(GLOBAL PROPERTY LAMINA_LAYER_LIBRARIES "")

function(lamina_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_library(lamina_${name} OBJECT ${arg_SOURCES})
  target_link_libraries(lamina_${name} PRIVATE lamina_build_flags ${arg_LIBRARIES})
  target_compile_options(lamina_${name} PRIVATE -fvisibility=hidden)
  set_property(GLOBAL APPEND PROPERTY LAMINA_LAYERS lamina_${name})
  set_property(GLOBAL APPEND PROPERTY LAMINA_LAYER_LIBRARIES ${arg_LIBRARIES})
endfunction()
