# SPDX-License-Identifier: Apache-2.0
# Sourced by tests that need a Linux with two NUMA nodes: node 0 with processors and 512 MiB, node 1 with 768 MiB and none, SLIT 21,
# HMAT, under software emulation (seconds to boot, no rights needed).
#
#   guest_require                     leaves with 77 and a reason when something is missing
#   guest_add FILE...                 programs and libraries, with what they link to, at their own paths
#   guest_run SCRIPT LOG SECONDS      boots and runs the shell script in /tmp; its terminal goes to LOG
#
# Needs qemu-system-x86, busybox-static, cpio and a kernel: LAMINA_GUEST_KERNEL, or one in /boot.

skip() { echo "skipped: $*"; exit 77; }

guest_require() {
  local tool
  for tool in qemu-system-x86_64 cpio busybox gzip; do
    command -v "$tool" > /dev/null || skip "$tool is not installed (apt-get install qemu-system-x86 seabios busybox-static cpio)"
  done
  guest_kernel=${LAMINA_GUEST_KERNEL:-$(ls /boot/vmlinuz-* 2> /dev/null | tail -n 1)}
  [ -r "$guest_kernel" ] || skip "no kernel: set LAMINA_GUEST_KERNEL (apt-get download linux-image-...-cloud-amd64-unsigned; dpkg -x)"
  guest_work=$(mktemp -d)
  guest_root=$guest_work/root
  trap 'rm -rf "$guest_work"' EXIT
  mkdir -p "$guest_root"/{bin,proc,sys,dev,tmp,lib64}
  cp "$(command -v busybox)" "$guest_root/bin/busybox"
}

guest_add() {
  local file library
  for file in "$@"; do
    for library in "$file" $(ldd "$file" 2> /dev/null | grep -oE '/[^ ]+'); do
      mkdir -p "$guest_root$(dirname "$library")"
      cp -L "$library" "$guest_root$library"
    done
  done
}

guest_run() {
  cat - "$1" > "$guest_root/init" << 'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
cd /tmp
INIT
  echo "poweroff -f" >> "$guest_root/init"
  chmod +x "$guest_root/init"
  (cd "$guest_root" && find . | cpio -o -H newc 2> /dev/null | gzip -1) > "$guest_work/initrd"
  timeout "$3" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -machine q35,hmat=on -smp 2,sockets=1,cores=2 -m 1280M \
    -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=768M \
    -numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,initiator=0 \
    -numa dist,src=0,dst=1,val=21 -numa dist,src=1,dst=0,val=21 \
    -numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=111 \
    -numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=73G \
    -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=202 \
    -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=34G \
    -kernel "$guest_kernel" -initrd "$guest_work/initrd" -append "console=ttyS0 quiet panic=-1" \
    -nographic -no-reboot -nodefaults -serial stdio < /dev/null 2>&1 | tr -d '\r' > "$2"
}
