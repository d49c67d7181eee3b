#!/usr/bin/env bash
# Everything compiled file by file, so that no include is missing that a neighbour in a common compilation brings, and without optimisation.
# In pieces: a run takes at most 40 minutes, the next one goes on.
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
piece_build build-includes
pieces_end
echo "every file compiles by itself"
