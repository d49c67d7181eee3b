#!/usr/bin/env bash
# The Python package and its tests: for the Python of another Debian release, or another Python of this system, which needs numpy, onnx and
# OpenCV. Where that Python has PyGObject, too, with hetero.gst and the element heteropython; else without the elements and their libraries.
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
plugins=true targets=(python-package plugins)
"$python" -c 'import gi' 2>/dev/null || plugins=false targets=(python-package)
configure "$folder" -Dplugins=$plugins -Dtests=false -Dexamples=false -Dpython=enabled -Dpython-executable="$python"
build "$folder" "${targets[@]}"
export PYTHONPATH=$root/$folder/python PYTHONFAULTHANDLER=1 HET_SHARED_DATA=${HET_SHARED_DATA:-$root/../shared/data}
export HETERO_GPU_ALLOW_CPU=1 POCL_CACHE_DIR=$root/$folder/pocl-cache
export GST_PLUGIN_PATH=$root/$folder/gst:$root/$folder/python/gst/element GST_REGISTRY=$root/$folder/registry.bin
failed=
for test in tests/python/*.py; do
  name=$(basename "$test" .py)
  arguments=()
  case $name in
    small_models | pipelines | element_rig | typed_* | stub_signatures) continue ;; # no tests
    gst_* | element*)
      if [ $plugins = false ]; then
        echo "$name: skipped: $python has no PyGObject"
        continue
      fi
      ;;
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
