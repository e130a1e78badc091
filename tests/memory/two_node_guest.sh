#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots a Linux with two NUMA nodes under software emulation: node 0 with processors and 512 MiB, node 1 with 768 MiB and none,
# SLIT 21, HMAT. A program that does not fit into node 0 is recorded there; tiers, footprint and ratios must say so. Then interfere
# places half of the footprint in the pool by filling node 0, and finds it there.
#
#   two_node_guest.sh LAMINA SPILL_PROGRAM
#
# Needs qemu-system-x86, busybox-static, cpio and a kernel: LAMINA_GUEST_KERNEL, or one in /boot. Skips (77) without them.
set -u
lamina=$1
spill=$2
skip() { echo "skipped: $*"; exit 77; }

for tool in qemu-system-x86_64 cpio busybox gzip; do
  command -v "$tool" > /dev/null || skip "$tool is not installed (apt-get install qemu-system-x86 seabios busybox-static cpio)"
done
kernel=${LAMINA_GUEST_KERNEL:-$(ls /boot/vmlinuz-* 2> /dev/null | tail -n 1)}
[ -r "$kernel" ] || skip "no kernel: set LAMINA_GUEST_KERNEL (apt-get download linux-image-...-cloud-amd64-unsigned; dpkg -x)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root"/{bin,proc,sys,dev,tmp,lib64}
cp "$(command -v busybox)" "$root/bin/busybox"
for program in "$lamina" "$spill"; do
  cp "$program" "$root/bin/$(basename "$program")"
  for library in $(ldd "$program" | grep -oE '/[^ ]+'); do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
done
cat > "$root/init" << 'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
cd /tmp
lamina machine --inspect
lamina record -o profile -- guest_spill
echo "exit status $?"
lamina report profile
printf '{"lamina_injector": 1, "processor": "", "host": "", "cpu_node": -1, "memory_node": 1, "array_bytes": 16777216,
  "peak_gb_per_s": 1, "points": [{"threads": 1, "flops_per_element": 1, "gb_per_s": 1, "fitted_gb_per_s": 1},
  {"threads": 1, "flops_per_element": 1000, "gb_per_s": 0.1, "fitted_gb_per_s": 0.1}]}' > lamina-inject.json
lamina interfere --levels 0 --shares 50 --runs 1 -- guest_spill
poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$work/initrd"

timeout 560 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -machine q35,hmat=on -smp 2,sockets=1,cores=2 -m 1280M \
  -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=768M \
  -numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,initiator=0 \
  -numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=21 \
  -numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=111 \
  -numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=73G \
  -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=202 \
  -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=34G \
  -kernel "$kernel" -initrd "$work/initrd" -append "console=ttyS0 quiet panic=-1" \
  -nographic -no-reboot -nodefaults -serial stdio < /dev/null > "$work/log" 2>&1
tr -d '\r' < "$work/log"

failures=0
expect() {
  if ! tr -d '\r' < "$work/log" | grep -qE "$1"; then
    echo "missing: $2"
    failures=1
  fi
}
expect '^ +0  DRAM +2 ' "node 0 is DRAM with two processors"
expect '^ +1  pool +0 .* 21  10  memory only' "node 1 is a pool without processors, at distance 21"
expect '^exit status 0' "the program ran to its end"
expect '^  tier 1 .* MiB ' "a part of the footprint spilled to the pool"
expect 'hot +200.00 MiB' "the named arrays"
expect 'tier 0: DRAM' "the names of the tiers"
expect '^ +50 +(4[4-9]|5[0-6])\.[0-9] +0 ' "half of the footprint placed in the pool by interfere"
exit $failures
