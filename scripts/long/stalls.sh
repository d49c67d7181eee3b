#!/usr/bin/env bash
# The tests, all or those named, beside a program that takes each processor away for 0.2 to 0.9 s every
# 2.7 s on average (./check.sh --long stalls [TEST...]; root): a test that fails here depends on a time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

export GST_HETERO_CACHE_DIR=
folder=${HET_CHECK_BUILD:-build-check}
require build demo check
configure "$folder" -Dtests=true
build "$folder"
forget_results "$folder"
/usr/bin/python3 tests/tools/stalls.py &
stalls=$!
trap 'kill "$stalls" 2> /dev/null || true' EXIT
sleep 1
kill -0 "$stalls" || fail "tests/tools/stalls.py has ended"
meson test -C "$folder" --no-rebuild --print-errorlogs --timeout-multiplier 4 "$@" || true
kill -0 "$stalls" || fail "tests/tools/stalls.py has ended"
/usr/bin/python3 scripts/test_summary.py "$folder/meson-logs/testlog.junit.xml"
