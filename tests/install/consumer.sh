#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs into a fresh folder and builds consumer/ against it the ways users do: pkg-config, pkg-config --static,
# find_package with either library. Man page and completion must be there too.
set -eu
rm -rf prefix found plain static
"$CMAKE" --install "$LAMINA_BUILD" --prefix "$PWD/prefix" > install.log
source=$LAMINA_SOURCE/tests/install/consumer
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/prefix" -name lamina.pc)")
libraries=$(dirname "$(find "$PWD/prefix" -name liblamina.a)")
export PKG_CONFIG_PATH

# shellcheck disable=SC2046 # the flags are words
"$CC" -std=c17 "$source/consumer.c" $(pkg-config --cflags --libs lamina) -o plain
LD_LIBRARY_PATH=$libraries ./plain

mkdir -p only-static && cp "$libraries/liblamina.a" only-static/
# shellcheck disable=SC2046
"$CC" -std=c17 "$source/consumer.c" -Lonly-static $(pkg-config --static --cflags --libs lamina | sed "s|-L$PWD/prefix/[^ ]*||") -o static
./static

"$CMAKE" -S "$source" -B found -DCMAKE_C_COMPILER="$CC" -DCMAKE_PREFIX_PATH="$PWD/prefix" > found.log
"$CMAKE" --build found >> found.log
./found/consumer_shared
./found/consumer_static

version=$("$PWD/prefix/bin/lamina" --version)
[ "$version" = "lamina $(pkg-config --modversion lamina)" ] || { echo "versions differ: $version"; exit 1; }
grep -q '^.TH LAMINA 1' prefix/share/man/man1/lamina.1
bash -n prefix/share/bash-completion/completions/lamina
