# SPDX-License-Identifier: Apache-2.0
# lamina_embed_texts(OUTPUT FILES...): writes a C file that holds the text of each file, so that an installed library cannot
# lose its kernels. The table is declared in src/device/kernel_text.h.
#
# Run with -P (OUTPUT=..., FILES=a;b;c) this same file does the work at build time.

function(lamina_embed_texts output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${ARGN}" -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding the kernel texts" VERBATIM)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# Bytes, not string literals: those are limited to 4095 characters in C17.
set(arrays "")
set(rows "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n  " bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${number}[] = {\n  ${bytes}0x00};\n\n")
  string(APPEND rows "  {\"${name}\", (const char *)text_${number}, sizeof text_${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
  "/* Made by cmake/LaminaEmbed.cmake out of src/kernel; do not edit. */\n"
  "#include \"device/kernel_text.h\"\n\n${arrays}"
  "const lmi_kernel_text lmi_kernel_texts[] = {\n${rows}};\n\n"
  "const size_t lmi_kernel_text_count = ${number};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
