#!/usr/bin/env bash
# The archive that tries the GPU device on another machine: built, its size checked, unpacked in an empty chroot, with nothing else there and
# then with PoCL as the driver; its run.sh on this system. Needs root; without it the chroot is skipped and said so (status 77).
#   ./check.sh --long bundle
# HET_BUNDLE_BUILD names another build folder than build-bundle.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require check
scripts/bundle.sh out/hetero-bundle.tar.xz
/usr/bin/python3 tests/packaging/bundle.py "$root" --archive out/hetero-bundle.tar.xz
echo "the archive is right"
