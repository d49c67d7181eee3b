#!/usr/bin/env bash
# The Python package, with hetero.gst and heteropython, under AddressSanitizer and UndefinedBehaviorSanitizer, with its tests and 10,000
# inferences in each of fourteen ways, and under valgrind with 1,000 in each: no wrong access, and nothing that our code has allocated is lost.
#   ./check.sh --long python_memory
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

require build demo check valgrind
folder=$root/build-python-asan
# g++ with sanitizers says that it does not unroll some loops.
configure build-python-asan -Dplugins=true -Dpython=enabled -Dtests=false -Dexamples=false -Ddispatch=native -Dbuildtype=plain \
  '-Dcpp_args=-O1 -g1' -Dwerror=false -Db_sanitize=address,undefined -Db_lundef=false
configure build-python-valgrind -Dplugins=false -Dpython=enabled -Dtests=false -Dexamples=false -Dbuildtype=plain '-Dcpp_args=-O2 -g1'
build build-python-asan plugins python-package
build build-python-valgrind python-package
pieces_begin "$folder/pieces"

export GST_HETERO_CACHE_DIR= HET_SHARED_DATA=${HET_SHARED_DATA:-$root/../shared/data}
# Each object of Python's own by itself, so that wrong accesses to it are seen; of GLib's, too. Tests of growth only print it.
export PYTHONMALLOC=malloc G_SLICE=always-malloc HET_SANITIZED=1
export GST_PLUGIN_PATH=$root/build-python-asan/gst:$root/build-python-asan/python/gst/element GST_REGISTRY=$folder/registry.bin GST_REGISTRY_FORK=no

asan_options=strict_string_checks=1:abort_on_error=1:exitcode=0:allocator_may_return_null=1:intercept_tls_get_addr=0:malloc_context_size=40
# under_asan LOG COMMAND...: what Python and others lose at the end of a process does not count, unless our code is in the stack.
under_asan() {
  local log=$1 status=0
  shift
  rm -f "$log".*
  # The interpreter has no libstdc++, where the runtime looks for what throws. Of thread-local memory the runtime keeps a wrong list.
  PYTHONPATH=$root/build-python-asan/python LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
    ASAN_OPTIONS=$asan_leaks:$asan_options:log_path="$log" LSAN_OPTIONS=suppressions=$root/scripts/long/lsan.supp:print_suppressions=0 \
    UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 "$@" || status=$?
  /usr/bin/python3 "$root/scripts/long/python_leaks.py" asan "$log".* || status=1
  return $status
}
under_valgrind() {
  local log=$1 status=0
  shift
  rm -f "$log".*
  PYTHONPATH=$root/build-python-valgrind/python valgrind --quiet --leak-check=full --show-leak-kinds=definite,possible --num-callers=40 \
    --log-file="$log.%p" "$@" || status=$?
  /usr/bin/python3 "$root/scripts/long/python_leaks.py" valgrind "$log".* || status=1
  return $status
}
for test in tests/python/*.py; do
  name=$(basename "$test" .py)
  # These are no tests, or have their own processes of another build.
  case $name in small_models | pipelines | element_rig | memory_growth | typed_* | typing_check | stub_signatures) continue ;; esac
  # A child after fork() leaves its parent's objects on purpose.
  asan_leaks=detect_leaks=1
  case $name in processes | element_forks) asan_leaks=detect_leaks=0 ;; esac
  piece "$name" under_asan "$folder/pieces/$name.log" /usr/bin/python3 "$test"
done
asan_leaks=detect_leaks=1
piece growth under_asan "$folder/pieces/growth.log" /usr/bin/python3 tests/python/memory_growth.py 10000
piece valgrind under_valgrind "$folder/pieces/valgrind.log" /usr/bin/python3 tests/python/memory_growth.py 1000
pieces_end
