#!/usr/bin/env bash
# `hetero archive` on Ray: Ray from PyPI (pinned) with two nodes on loopback, 200 short videos, five of them broken. A worker and a node are
# killed, Ctrl-C, the node comes back; then merged results beside those of one process. Needs root, and a network the first time. In pieces.
#   ./check.sh --long archive_ray
# HET_CHECK_BUILD names another build folder than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"
version=2.60.0

build=$root/${HET_CHECK_BUILD:-build-check}
folder=$root/build-archive
cluster=tests/serving/archive/cluster
require build demo check long
python_environment "$folder/ray-$version" "ray==$version"
export RAY=$folder/ray-$version/bin/ray
configure "$build" -Dtests=true
pieces_begin "$folder/ray_progress"
piece_build "$build" plugins tools/hetero-archive
if [ -n "$(piece_result build)" ]; then
  piece videos /usr/bin/python3 "$cluster/videos.py" "$folder/videos" 200 5
  for name in one_process ray_page ray_whole ray_ranges; do
    piece "$name" /usr/bin/python3 "$cluster/cluster_check.py" "$build" "$folder" "$name"
  done
fi
pieces_end
echo "all pieces passed; Ray $version, two nodes on loopback of one machine with $(nproc) processors"
