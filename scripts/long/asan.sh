#!/usr/bin/env bash
# All tests under AddressSanitizer and UndefinedBehaviorSanitizer.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require build demo check
configure build-asan -Dtests=true -Dbuildtype=plain '-Dcpp_args=-O1 -g1' -Db_sanitize=address,undefined -Db_lundef=false -Db_pch=false
build build-asan
# GStreamer's registry scanner and Python load our instrumented plugin: the runtime has to come first.
export HET_PRELOAD
HET_PRELOAD=$(g++ -print-file-name=libasan.so)
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:fast_unwind_on_malloc=0
export LSAN_OPTIONS=suppressions=$root/scripts/long/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
meson test -C build-asan --no-rebuild --no-suite tree --timeout-multiplier 5 --print-errorlogs || true
exec /usr/bin/python3 scripts/test_summary.py build-asan/meson-logs/testlog.junit.xml
