#!/usr/bin/env bash
# COCO's numbers: installs pinned pycocotools from PyPI into a virtual environment of the build folder and compares what `hetero accuracy`
# says of random annotations and results with it, to 1e-6. Arguments: how many sets (1000) and the first seed (random). Needs a
# network the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
version=2.0.11

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero
folder=build-check/pycocotools-$version
python_environment "$folder" "pycocotools==$version"
exec "$folder/bin/python" tests/tools/accuracy/pycocotools_reference.py compare build-check/tools/hetero "${1:-1000}" ${2:+"$2"}
