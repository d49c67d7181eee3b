#!/usr/bin/env bash
# Parquet of `hetero archive merge`: installs the pinned pyarrow from PyPI into a virtual environment of the build folder and runs the test
# that reads back what was written. Needs a network the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
version=26.0.1

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero tools/hetero-archive gst/libgsthetero.so
folder=$root/build-check/pyarrow-$version
python_environment "$folder" "pyarrow==$version"
status=0
PATH=$folder/bin:$PATH GST_PLUGIN_PATH=$root/build-check/gst GST_HETERO_CACHE_DIR='' \
  /usr/bin/python3 tests/serving/archive/archive_results_cli.py build-check/tools/hetero "$root" parquet || status=$?
[ "$status" != 77 ] || fail "what this check is for was skipped"
[ "$status" = 0 ] || exit "$status"
echo "what pyarrow $version reads back is what the lines say"
