# SPDX-License-Identifier: Apache-2.0
# features.c: the table behind lamina_feature_at, from what LaminaDependencies found. The commit is looked up at build time, so
# that it is right without configuring again; run with -P this file does that.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_minimum_required(VERSION 3.25)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=12 --dirty=+
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR commit STREQUAL "")
    set(commit unknown)
  endif()
  file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define LAMINA_COMMIT \"@commit@\"\n" @ONLY) # written only when it differs
  return()
endif()

function(lamina_write_features output)
  get_property(features GLOBAL PROPERTY LAMINA_FEATURES)
  set(rows "")
  foreach(feature ${features})
    string(REPLACE "|" ";" field "${feature}")
    list(GET field 0 name)
    list(GET field 1 state)
    list(GET field 2 version)
    list(GET field 3 purpose)
    list(GET field 4 fix)
    set(is_built false)
    if(state STREQUAL "found")
      set(is_built true)
    endif()
    string(APPEND rows "  {\"${name}\", ${is_built}, \"${version}\", \"${purpose}\", \"${fix}\"},\n")
  endforeach()
  string(TOLOWER ${CMAKE_C_COMPILER_ID} compiler)
  string(REPLACE gnu gcc compiler ${compiler})
  file(CONFIGURE OUTPUT ${output} CONTENT "/* Made by cmake/LaminaFeatures.cmake; do not edit. */
#include <lamina/features.h>

#include \"commit.h\"

static const lamina_feature features[] = {
${rows}};

size_t lamina_feature_count(void)
{
  return sizeof features / sizeof *features;
}

const lamina_feature *lamina_feature_at(size_t index)
{
  return index < sizeof features / sizeof *features ? &features[index] : 0;
}

const char *lamina_build_commit(void)
{
  return LAMINA_COMMIT;
}

const char *lamina_build_compiler(void)
{
  return \"${compiler} ${CMAKE_C_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}\";
}
" @ONLY)
  get_filename_component(folder ${output} DIRECTORY)
  add_custom_target(lamina_commit
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${folder}/commit.h -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    BYPRODUCTS ${folder}/commit.h VERBATIM)
endfunction()
