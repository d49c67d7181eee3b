#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. The last line is
# "N passed, N failed, N skipped"; skipped tests print their reason.
#   ./check.sh               all tests
#   ./check.sh --debian 13   the same in another Debian release (12, 13 or 14), in a chroot (scripts/debian.sh)
#   ./check.sh --long NAME   one of the long checks (docs/checks.md lists them); behind --debian NUMBER in that chroot
# HET_CHECK_BUILD names another build folder than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

# Fixed rules, whatever this machine measured before, and nothing written into the home folder.
export GST_HETERO_CACHE_DIR=

case ${1-} in
  "") ;;
  --debian)
    shift
    exec scripts/debian.sh "$@"
    ;;
  --long)
    name=${2-}
    [ -n "$name" ] && [ -x "scripts/long/$name.sh" ] ||
      fail "--long takes one of: $(cd scripts/long && ls ./*.sh | sed 's|^\./||; s|\.sh$||' | paste -sd' ')"
    shift 2
    exec "scripts/long/$name.sh" "$@"
    ;;
  *) fail "unknown option '$1'; usage: ./check.sh [--debian NUMBER] [--long NAME]" ;;
esac

require build demo check
folder=${HET_CHECK_BUILD:-build-check}
configure "$folder" -Dtests=true
build "$folder"
forget_results "$folder"
meson test -C "$folder" --no-rebuild --print-errorlogs || true
exec /usr/bin/python3 scripts/test_summary.py "$folder/meson-logs/testlog.junit.xml"
