#!/usr/bin/env bash
# All tests under AddressSanitizer and UndefinedBehaviorSanitizer, in pieces: a run takes at most 40 minutes, the next one goes on.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

require build demo check
# Loops for this processor alone: the others' would not run, and take half of the build.
# g++ with sanitizers says that it does not unroll some loops.
configure build-asan -Dtests=true -Ddispatch=native -Dbuildtype=plain '-Dcpp_args=-O1 -g1' -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false
pieces_begin "$root/build-asan/pieces"
piece_build build-asan
# What PoCL has compiled for the tests of ./check.sh, if they have run here: its compiler takes many times as long under this allocator.
[ ! -d build-check/pocl-cache ] || [ -e build-asan/pocl-cache ] || cp -r build-check/pocl-cache build-asan/pocl-cache
# GStreamer's registry scanner and Python load our instrumented plugin: the runtime has to come first.
export HET_PRELOAD
HET_PRELOAD=$(g++ -print-file-name=libasan.so)
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:fast_unwind_on_malloc=0
export LSAN_OPTIONS=suppressions=$root/scripts/long/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

run_test() {
  local status=0
  forget_results build-asan "$1"
  meson test -C build-asan --no-rebuild --timeout-multiplier 5 --print-errorlogs --logbase "piece-$1" "$1" || status=$?
  cp "build-asan/meson-logs/piece-$1.junit.xml" "build-asan/pieces/$1.xml"
  return $status
}
# Programs that have another library in front of the runtime, or none of it; and the symbols of a library that holds the sanitizer's own.
left_out="installed installed_at_prefix example_gstreamer_python example_va_surface c_symbols"
echo "skipped (they load the library without the sanitizers' runtime in front, or count its symbols): $left_out"
for name in $(meson introspect --tests build-asan | /usr/bin/python3 -c '
import json, sys
print(*(test["name"] for test in json.load(sys.stdin) if "tree" not in " ".join(test["suite"])))'); do
  case " $left_out " in *" $name "*) continue ;; esac
  piece_beside "$name" run_test "$name"
done
wait
[ ${#pieces_left[@]} -gt 0 ] || exec /usr/bin/python3 scripts/test_summary.py build-asan/pieces/*.xml
pieces_end
