#!/usr/bin/env bash
# How many threads of an application want a core at the same time: decoder, models, OpenCV, an OpenMP team and PyTorch in one
# process. The test gst_runnable_threads is the same without PyTorch.
#   ./check.sh --long threads
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

require build demo check torch
folder=${HET_CHECK_BUILD:-build-check}
configure "$folder" -Dtests=true
build "$folder" plugins tests/gst/openmp_user.so
export GST_PLUGIN_PATH=$root/$folder/gst GST_REGISTRY=$root/$folder/tests/gst/threads.bin
exec /usr/bin/python3 tests/gst/runnable_threads.py "$root" "$folder/tests/gst/openmp_user.so" --torch
