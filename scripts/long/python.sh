#!/usr/bin/env bash
# The Python package alone, without the elements and their libraries, and its tests: for the Python of another Debian release, or another
# Python of this system, which needs numpy, onnx and OpenCV.
#   ./check.sh --long python [PYTHON]       default: /usr/bin/python3; behind --debian NUMBER in that chroot
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

python=${1:-/usr/bin/python3}
require build demo check
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
folder=${HET_CHECK_BUILD:-build-check}-python$version
configure "$folder" -Dplugins=false -Dpython=enabled -Dpython-executable="$python"
build "$folder"
export PYTHONPATH=$root/$folder/python PYTHONFAULTHANDLER=1 HET_SHARED_DATA=${HET_SHARED_DATA:-$root/../shared/data}
export HETERO_GPU_ALLOW_CPU=1 POCL_CACHE_DIR=$root/$folder/pocl-cache
failed=
for test in tests/python/*.py; do
  name=$(basename "$test" .py)
  arguments=()
  case $name in
    small_models | typed_program | stub_signatures) continue ;; # no tests
    memory_growth) arguments=(10000 --bytes) ;;
    typing_check) arguments=("$root" "$root/$folder/mypy-cache") ;;
  esac
  status=0
  "$python" "$test" "${arguments[@]}" >"$folder/$name.log" 2>&1 || status=$?
  case $status in
    0) echo "$name: passed: $(sed -n 's/^Ran /ran /p' "$folder/$name.log")" ;;
    77) echo "$name: skipped: $(grep -i skip "$folder/$name.log" | tail -n 1)" ;;
    *) echo "$name: failed with $status"; tail -n 30 "$folder/$name.log"; failed="$failed $name" ;;
  esac
done
[ -z "$failed" ] || fail "failed with Python $version:$failed"
echo "Python $version with numpy $("$python" -c 'import numpy; print(numpy.__version__)'): all passed"
