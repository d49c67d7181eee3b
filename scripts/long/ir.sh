#!/usr/bin/env bash
# Operations of OpenVINO: installs the pinned openvino package from PyPI into a virtual environment of the build folder, writes small
# IR models of every operation of its opsets, runs them there and here on REF and CPU (other devices: HET_DEVICES="REF CPU ...") and
# compares; some are random, from HET_IR_SEED (1). A model that gives another result is a failure; one that is refused is listed with its reason. Needs a network the first time.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
version=2026.4.1

require build demo check long
configure build-check -Dtests=true
build build-check tools/hetero
folder=build-check/openvino-$version
python_environment "$folder/venv" "openvino==$version"
# shellcheck disable=SC2086
exec "$folder/venv/bin/python" scripts/ir_operations/compare.py build-check/tools/hetero "$folder/models" ${HET_DEVICES:-REF CPU}
