#!/usr/bin/env bash
# `hetero launch` on two NUMA nodes, which QEMU emulates (TCG, no KVM): a Debian guest with systemd and four processors in two nodes with
# memory of their own runs this build. Where threads and pages are, quotas and cpusets, the service, killed instances; nothing is said about
# speed. Besides, the manifests of packaging/ are validated. Needs root. In pieces.
#   ./check.sh --long numa
# HET_CHECK_BUILD names another build folder than build-check. packaging/checks/guest/README.md says how a piece is run alone.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

build=$root/${HET_CHECK_BUILD:-build-check}
pieces_begin "$root/build-numa"
require build demo check long guest
configure "$build" -Dtests=true
piece_build "$build" plugins tools/hetero tools/hetero-launch devices/vpu/daemon/hetero-vpud
if [ -n "$(piece_result build)" ]; then
  piece manifests packaging/checks/manifests.sh "$build"
  packaging/checks/guest/prepare.sh "$build" "$root/build-numa"
  for name in nodes quota service killed; do
    piece "$name" packaging/checks/guest/boot.sh "$root/build-numa" "$name"
  done
fi
pieces_end
echo "all pieces passed; both nodes were emulated by $(qemu-system-x86_64 --version | head -n 1)"
