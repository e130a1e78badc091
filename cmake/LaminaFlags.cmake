# SPDX-License-Identifier: Apache-2.0
# lamina_build_flags: warnings, include folders and sanitizers of everything we compile. Nothing is set globally.
add_library(lamina_build_flags INTERFACE)
target_include_directories(lamina_build_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(lamina_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-prototypes -Wundef -Wvla
  -fno-math-errno -fno-trapping-math -ffp-contract=off) # results must not depend on what a compiler contracts
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  target_compile_options(lamina_build_flags INTERFACE -Wno-pass-failed) # a loop that stays scalar is slow, not wrong
endif()

option(LAMINA_WERROR "Treat warnings as errors" ON)
if(LAMINA_WERROR)
  target_compile_options(lamina_build_flags INTERFACE -Werror)
endif()

set(LAMINA_SANITIZE "" CACHE STRING "Sanitizers to build with, as the compiler spells them: address,undefined or thread")
if(LAMINA_SANITIZE)
  target_compile_options(lamina_build_flags INTERFACE
    -fsanitize=${LAMINA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(lamina_build_flags INTERFACE -fsanitize=${LAMINA_SANITIZE})
endif()
