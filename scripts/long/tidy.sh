#!/usr/bin/env bash
# clang-tidy with the naming rules of the design (.clang-tidy) over every source that a build compiles. In pieces: a run takes at most
# 40 minutes, the next one goes on.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

require build demo check tidy
# As an ordinary build compiles, so that a header is read once for many files; one instruction set, as only its names differ.
configure build-tidy -Dtests=true -Dbenchmarks=false -Ddispatch=native
pieces_begin "$root/build-tidy/pieces"
make_generated_sources build-tidy

# OpenMP's header is the compiler's own, and only g++'s is there; clang does not know who frees what it allocates.
mkdir -p build-tidy/openmp
sed 's/__malloc__ (omp_free),//' "$(g++ -print-file-name=include)/omp.h" >build-tidy/openmp/omp.h

# Warnings are g++'s matter.
check_file() {
  local log=build-tidy/pieces/$2.txt
  clang-tidy-16 --quiet --extra-arg=-w --extra-arg="-isystem$root/build-tidy/openmp" -p build-tidy "$1" >"$log" 2>/dev/null && return 0
  grep -E 'error:|warning:' "$log" | sort -u
  return 1
}
while read -r file; do
  name=$(sed "s|^$root/||; s|[^A-Za-z0-9_.-]|_|g" <<<"$file")
  piece "$name" check_file "$file" "$name"
done < <(/usr/bin/python3 scripts/long/compile_alone.py build-tidy --list | grep '\.cpp$')
pieces_end
echo "every name is as the design has it"
