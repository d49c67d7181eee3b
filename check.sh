#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. The last line is
# "N passed, N failed, N skipped"; skipped tests print their reason.
#   ./check.sh               all tests
#   ./check.sh --long NAME   one of the long checks (docs/checks.md lists them)
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

case ${1-} in
  "") ;;
  --long)
    name=${2-}
    [ -n "$name" ] && [ -x "scripts/long/$name.sh" ] ||
      fail "--long takes one of: $(cd scripts/long && ls ./*.sh | sed 's|^\./||; s|\.sh$||' | paste -sd' ')"
    shift 2
    exec "scripts/long/$name.sh" "$@"
    ;;
  *) fail "unknown option '$1'; usage: ./check.sh [--long NAME]" ;;
esac

require build demo check
configure build-check -Dtests=true
build build-check
meson test -C build-check --no-rebuild --print-errorlogs || true
exec /usr/bin/python3 scripts/test_summary.py build-check/meson-logs/testlog.junit.xml
