#!/usr/bin/env bash
# `hetero archive` on Slurm: Debian's slurmctld, munged and three slurmd in namespaces of this machine, 200 short videos, five of them broken.
# A node is killed, a task cancelled and submitted again, the controller killed and started again in mid-run; then merged results beside
# those of one process. Besides, tasks that are stopped before their time limit, and GNU parallel. Needs root. In pieces.
#   ./check.sh --long archive_slurm
# HET_CHECK_BUILD names another build folder than build-check.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

build=$root/${HET_CHECK_BUILD:-build-check}
folder=$root/build-archive
cluster=tests/serving/archive/cluster
require build demo check slurm
configure "$build" -Dtests=true
pieces_begin "$folder/slurm_progress"
piece_build "$build" plugins tools/hetero-archive
if [ -n "$(piece_result build)" ]; then
  piece videos /usr/bin/python3 "$cluster/videos.py" "$folder/videos" 200 5
  for name in one_process slurm_page slurm_whole slurm_ranges slurm_time_limit parallel_page parallel; do
    piece "$name" /usr/bin/python3 "$cluster/cluster_check.py" "$build" "$folder" "$name"
  done
fi
pieces_end
echo "all pieces passed; $(slurmctld -V), three nodes in namespaces of one machine with $(nproc) processors"
