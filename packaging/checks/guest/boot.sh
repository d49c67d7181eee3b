#!/usr/bin/env bash
# Starts the guest: four processors in two NUMA nodes, each with memory of its own, all emulated (TCG). It runs one piece and switches
# itself off; what the piece printed is printed here, and its status is ours.
# Usage: boot.sh FOLDER PIECE, with the disks of prepare.sh in FOLDER
# HET_GUEST_MINUTES (20): after these it is switched off, and the piece has failed.
set -euo pipefail
folder=${1:?a folder of prepare.sh} piece=${2:?a piece}
guest=''
place=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-guest.XXXXXX")
trap '[ -z "$guest" ] || kill "$guest" 2>/dev/null || true; rm -rf "$place"' EXIT
qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -nodefaults -no-reboot -display none \
  -smp 4,sockets=2,cores=2,threads=1 -m 3G \
  -object memory-backend-ram,id=memory0,size=1536M -object memory-backend-ram,id=memory1,size=1536M \
  -numa node,nodeid=0,cpus=0-1,memdev=memory0 -numa node,nodeid=1,cpus=2-3,memdev=memory1 \
  -serial file:"$place/console" -serial file:"$place/printed" \
  -drive file="$folder/system/system.ext4",if=virtio,format=raw,snapshot=on -drive file="$folder/payload.ext4",if=virtio,format=raw,readonly=on \
  -kernel "$folder/system/kernel" -initrd "$folder/system/initrd" \
  -append "root=/dev/vda rw console=ttyS0 mitigations=off systemd.show_status=no systemd.default_timeout_start_sec=600 guest.piece=$piece" \
  >"$place/emulator" 2>&1 &
guest=$!
echo "== $piece, on two NUMA nodes that QEMU emulates"
until=$((SECONDS + 60 * ${HET_GUEST_MINUTES:-20}))
while kill -0 "$guest" 2>/dev/null && [ "$SECONDS" -lt "$until" ]; do sleep 1; done
late=
! kill "$guest" 2>/dev/null || late=1
wait "$guest" || true
sed '/^guest: [a-z_]* ended with /d' "$place/printed"
status=$(sed -n "s/^guest: $piece ended with //p" "$place/printed")
if [ -z "$status" ]; then
  echo "boot.sh: the guest ${late:+was switched off after ${HET_GUEST_MINUTES:-20} minutes, }ended without the piece's status; the end of its console:" >&2
  tail -n 20 "$place/emulator" "$place/console" >&2
  exit 1
fi
exit "$status"
