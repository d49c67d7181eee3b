#!/usr/bin/env bash
# `hetero archive` of an object store by presigned URLs and as a folder mounted by s3fs, against moto's server (pinned, from PyPI): results
# beside gst-launch-1.0's, nothing is done again for a new signature, an object that changes is. Needs a network the first time, and root for
# the folder.
#   ./check.sh --long archive_storage
# HET_CHECK_BUILD names another build folder than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
version=5.2.5

build=$root/${HET_CHECK_BUILD:-build-check}
folder=$root/build-archive
cluster=tests/serving/archive/cluster
require build demo check long store
python_environment "$folder/moto-$version" "moto[s3,server]==$version"
configure "$build" -Dtests=true
build "$build" plugins tools/hetero-archive
/usr/bin/python3 "$cluster/videos.py" "$folder/videos" 200 5
exec "$folder/moto-$version/bin/python" "$cluster/object_store.py" "$build" "$folder"
