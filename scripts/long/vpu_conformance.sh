#!/usr/bin/env bash
# Whether a device program keeps to devices/vpu/protocol.md.
#
#   ./check.sh --long vpu_conformance [ADDRESS [KEY_FILE]]
#
# ADDRESS is the path of a socket or tcp://HOST:PORT; without one hetero-vpud is asked, over both.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder" tests/devices/vpu_conformance devices/vpu/daemon/hetero-vpud
[ $# -lt 1 ] || export HET_VPU_ADDRESS=$1
[ $# -lt 2 ] || export HET_VPU_KEY_FILE=$2
HET_BUILD_ROOT=$PWD/$folder exec "$folder/tests/devices/vpu_conformance"
