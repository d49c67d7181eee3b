#!/usr/bin/env bash
# The Debian packages: built twice for Debian 12 (byte-equal) and once for Debian 13, then for each release lintian, piuparts, autopkgtest,
# an installation by apt from a signed repository, life beside other libraries of the kind; at last the container. Needs root. In pieces.
#   ./check.sh --long package
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/long/pieces.sh
. "$root/scripts/long/pieces.sh"

# twice: the packages of Debian 12 once more. Another folder each time, so that paths would tell.
twice() {
  ./package.sh --debian 12 --output "$root/out/packages/again" || return
  local file same=0
  for file in out/packages/debian12/*.deb out/packages/debian12/*.tar.xz; do
    cmp "$file" "out/packages/again/$(basename "$file")" || return
    same=$((same + 1))
  done
  [ "$same" -gt 8 ] || return
  echo "$same packages and archives of two builds are the same bytes"
  rm -r out/packages/again
}

pieces_begin "$root/build-package"
piece build-12 ./package.sh --debian 12
piece twice-12 twice
piece build-13 ./package.sh --debian 13
for number in 12 13; do
  for check in lintian piuparts autopkgtest apt beside; do
    piece "$check-$number" "packaging/checks/$check.sh" "$number"
  done
done
piece container "packaging/checks/container.sh" 13
pieces_end
echo "all pieces passed"
