#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the session program on a machine with an accelerator, with libraries that were carried along beside it.
#   session.sh FOLDER OUT TASKS
# FOLDER holds lamina_accelerator_session and lib*.so. TASKS: a line is the program's arguments, after one NAME=VALUE at most.
set -u
folder=$1 out=$2 tasks=$3
nvrtc=$(find /usr/local /opt /usr/lib -name 'libnvrtc.so.1[23]' 2>/dev/null | sort | tail -1)
export LAMINA_NVRTC="$nvrtc" LAMINA_KERNEL_CACHE="${LAMINA_KERNEL_CACHE:-/tmp/lamina-kernels}"
export LD_LIBRARY_PATH="$folder:$(dirname "$nvrtc"):${LD_LIBRARY_PATH:-}"
while read -r line; do
  [ -z "$line" ] && continue
  case ${line%% *} in
  *=*) echo "{\"task\":\"setting\",\"value\":\"${line%% *}\"}" >>"$out" ;;
  esac
  # shellcheck disable=SC2086
  case ${line%% *} in
  *=*) timeout 240 env "${line%% *}" "$folder/lamina_accelerator_session" ${line#* } ;;
  *) timeout 240 "$folder/lamina_accelerator_session" $line ;;
  esac >>"$out" 2>>"$out.err" </dev/null || echo "FAILED ($?): $line" | tee -a "$out.err"
done <"$tasks"
