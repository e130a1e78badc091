#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several devices of one host, in one sitting: links, equal bits, then the sizes, layouts and transports of the paper's
# scaling figures. One JSON object a line; devices.py turns them into a result and plots.
#   devices.sh FOLDER OUT DEVICES
# FOLDER holds lamina_accelerator_session and the libraries it was carried with.
set -u
folder=$1 out=$2 devices=$3
session=$folder/lamina_accelerator_session
nvrtc=$(find /usr/local /opt /usr/lib -name 'libnvrtc.so.1[23]' 2>/dev/null | sort | tail -1)
export LAMINA_NVRTC="$nvrtc" LAMINA_KERNEL_CACHE="${LAMINA_KERNEL_CACHE:-/tmp/lamina-kernels}"
export LD_LIBRARY_PATH="$folder:$(dirname "$nvrtc"):${LD_LIBRARY_PATH:-}"

# Slab of one device alone, the whole box on one, and all ways to join the slabs.
size_rows() {
  lattice=$1 n=$2
  for streaming in esoteric_pull two_grid; do
    row=$lattice:bgk:f32:$streaming
    for layout in soa disaggregated plane; do
      echo "$row:$layout:${n}x${n}x$((n / devices))"
    done
    echo "$row:plane:$n"
    for way in soa:messages@streams soa:messages disaggregated:messages@streams disaggregated:messages \
      plane:messages plane:plain@streams plane:direct@streams plane:direct plane:direct@meetings; do
      echo "$row:${way%%:*}:$n:$devices:${way#*:}:$devices"
    done
  done
}

rows=$(mktemp)
for n in ${SIZES:-64 96 128 160 192 256 384 512}; do size_rows d3q19 "$n"; done >"$rows"
{
  size_rows d3q27 192
  for count in 2 3; do
    [ "$count" -lt "$devices" ] || continue
    echo "d3q27:bgk:f32:esoteric_pull:plane:192:$count:direct:$count"
    echo "d3q19:bgk:f32:esoteric_pull:plane:512:$count:direct:$count"
  done
} >>"$rows"

run() {
  timeout "$1" "$session" "$2" $3 >>"$out" 2>>"$out.err" </dev/null || echo "FAILED ($?): $2 $3" | cut -c1-200 >>"$out.err"
}

nvidia-smi topo -m >"$out.topology" 2>&1
xargs -n 4 -P "$(nproc)" "$session" compile <"$rows" >/dev/null 2>>"$out.err" &
compiling=$!
for layout in plane disaggregated soa aos; do
  run 150 equal "$devices $layout" &
  equal="${equal:-} $!"
done
wait $compiling $equal
run 120 peers ""
# Streams first: should the driver refuse graphs across devices, their rows are not lost.
run 200 time "seconds=0.06 $(grep @streams "$rows" | tr '\n' ' ')"
run 250 time "seconds=0.06 $(grep -v @streams "$rows" | tr '\n' ' ')"
for count in 1 $devices; do
  run 90 time "seconds=0.2 d3q19:bgk:f32:esoteric_pull:plane:512x512x$((512 * count)):$count:direct:$count"
done
rm -f "$rows"
