# Sourced by the checks of packages: CHECK.sh NUMBER, with what ./package.sh left in out/packages/debianNUMBER. Afterwards $fresh is a
# new system of that release, removed at the end, and `inside COMMAND...` runs there, with $root and $place at the same places.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

number=${1:?the number of a Debian release}
# shellcheck disable=SC2034 # of the checks
suite=$(suite_of "$number")
packages=$root/out/packages/debian$number
[ -e "$(echo "$packages"/*.changes)" ] || fail "there are no packages in $packages; ./package.sh --debian $number makes them"
require_chroot
place=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-packages.XXXXXX")
fresh=$place/system
trap 'remove_chroot "$place"' EXIT
make_chroot "$number" "$fresh"
# Services of other packages are not started in a chroot.
printf '#!/bin/sh\nexit 101\n' >"$fresh/usr/sbin/policy-rc.d"
chmod +x "$fresh/usr/sbin/policy-rc.d"

inside() {
  in_chroot "$fresh" "$root $place" DEBIAN_FRONTEND=noninteractive "$@"
}

# install PACKAGE...: from Debian, without recommendations.
install() {
  inside sh -c "apt-get -qq update && apt-get -qq -y --no-install-recommends install $*" >"$place/apt.log" 2>&1 || {
    tail -n 20 "$place/apt.log" >&2
    fail "apt-get could not install $*"
  }
}

# built: the packages, without those of debugging symbols.
built() {
  find "$packages" -name '*.deb' ! -name '*-dbgsym_*' | sort
}
