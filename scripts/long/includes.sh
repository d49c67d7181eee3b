#!/usr/bin/env bash
# Every source compiled by itself, so that no include is missing that a neighbour in a common compilation brings; nothing is written. In
# pieces: a run takes at most 40 minutes, the next one goes on.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

require build demo check
configure build-includes -Dtests=true -Dunity=off -Doptimization=0 -Ddispatch=native
pieces_begin "$root/build-includes/pieces"
make_generated_sources build-includes
readonly kFiles=40
count=$(/usr/bin/python3 scripts/long/compile_alone.py build-includes --list | wc -l)
for ((first = 0; first < count; first += kFiles)); do
  progress "Compiling alone: $first of $count"
  piece "from_$first" /usr/bin/python3 scripts/long/compile_alone.py build-includes "$first" "$kFiles"
done
progress_end
pieces_end
echo "every one of $count sources compiles by itself"
