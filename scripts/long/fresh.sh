#!/usr/bin/env bash
# The README's two commands in a fresh Debian 12 with nothing installed: debootstrap makes a chroot,
# a clone of the committed state goes into it, and each command runs there. Prints the times. Needs
# root and about 6 GB under $TMPDIR. HET_FRESH_COMMANDS="./demo.sh" runs only that one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"
require_chroot

for command in ${HET_FRESH_COMMANDS:-./demo.sh ./check.sh}; do
  folder=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-fresh.XXXXXX")
  trap 'remove_chroot "$folder"' EXIT
  make_chroot 12 "$folder"
  git clone -q "$root" "$folder/root/gst-hetero"
  start=$(date +%s)
  status=0
  in_chroot "$folder" "" bash -c "cd /root/gst-hetero && $command" || status=$?
  echo "$command in a fresh Debian 12: exit status $status, $(($(date +%s) - start)) s"
  remove_chroot "$folder"
  trap - EXIT
  [ "$status" = 0 ] || exit "$status"
done
