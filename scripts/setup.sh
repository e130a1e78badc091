#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build Lamina; with --check also what the checks need. Says what it installs; silent, and needs no
# network, when nothing is missing. Uses apt as root or through sudo; elsewhere it prints what to install.
set -eu

build='gcc libc6-dev cmake ninja-build pkg-config make libjansson-dev libyaml-dev libpng-dev zlib1g-dev libhwloc-dev libnuma-dev libhdf5-dev libadmesh-dev libpfm4-dev gnuplot-nox'
check='g++ clang clang-format clang-tidy cppcheck universal-ctags valgrind python3 libcmocka-dev locales python3-h5py libopenmpi-dev openmpi-bin'

case ${1-} in
  '') wanted=$build ;;
  --check) wanted="$build $check" ;;
  *) echo "usage: scripts/setup.sh [--check]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  for tool in cc cmake ninja pkg-config; do
    command -v $tool > /dev/null || missing="${missing-} $tool"
  done
  for module in jansson yaml-0.1 libpng hwloc numa; do
    pkg-config --exists $module 2> /dev/null || missing="${missing-} $module"
  done
  [ -n "${missing-}" ] || exit 0
  echo "This system has no apt. Missing:$missing." >&2
  echo "Please install, under your system's names, what Debian calls: $wanted" >&2
  exit 1
fi

missing=''
for package in $wanted; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing with apt:$missing"
as_root=''
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "Not root and no sudo: please run 'apt-get install$missing' as root." >&2; exit 1; }
  as_root='sudo env DEBIAN_FRONTEND=noninteractive'
fi
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # the packages are words
$as_root apt-get install -y --no-install-recommends $missing > /dev/null 2>&1 && exit 0
# The lists may be old, or absent in a fresh container.
$as_root apt-get update > /dev/null || { echo "apt-get update failed: is there a network?" >&2; exit 1; }
# shellcheck disable=SC2086
$as_root apt-get install -y --no-install-recommends $missing > /dev/null || { echo "apt-get could not install:$missing" >&2; exit 1; }
