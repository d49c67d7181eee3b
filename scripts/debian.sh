#!/usr/bin/env bash
# ./check.sh --debian NUMBER [--long NAME]: ./check.sh on this checkout in another Debian release, built in build-debianNUMBER. The release
# lies in $XDG_CACHE_HOME/gst-hetero-debianNUMBER with all packages that the tests need, and is made once. Needs root.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

number=${1-}
suite_of "$number" >/dev/null
require_chroot
case $root in *[[:space:]]*) fail "the checkout's path '$root' has a space, which this script cannot take" ;; esac
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/gst-hetero-debian$number
paths=$root
[ ! -d "$root/../shared" ] || paths="$paths $(cd "$root/../shared" && pwd)"
groups="build demo check"
settings=(HET_CHECK_BUILD="build-debian$number")
if cache=$(ccache --get-config cache_dir 2>/dev/null) && mkdir -p "$cache"; then
  paths="$paths $cache"
  groups="$groups cache"
  settings+=(CCACHE_DIR="$cache")
fi

if [ ! -d "$folder" ]; then
  echo "Making Debian $number in $folder"
  partial=$folder.partial
  trap 'remove_chroot "$partial"' EXIT
  remove_chroot "$partial"
  make_chroot "$number" "$partial"
  in_chroot "$partial" "$paths" bash -euc "cd '$root'; root=\$PWD; . scripts/environment.sh
    [ \"\$(debian_release)\" = $number ] || fail \"'$partial' says that it is Debian '\$(debian_release)', not $number\"
    require $groups; apt-get clean"
  mv "$partial" "$folder"
  trap - EXIT
fi
in_chroot "$folder" "$paths" "${settings[@]}" "$root/check.sh" "${@:2}"
