#!/usr/bin/env bash
# An apt repository as a folder, for a web server or a disk: adds the packages that ./package.sh has made, and signs. Called by
# ./package.sh --repository. Usage: repository.sh REPOSITORY KEY PACKAGES, the last with a folder debianNUMBER for each release.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

repository=$1 key=$2 packages=$3
require repository
fingerprint=$(gpg --batch --with-colons --list-secret-keys "$key" 2>/dev/null | awk -F: '$1 == "fpr" { print $10; exit }' || true)
[ -n "$fingerprint" ] || fail "GnuPG has no secret key '$key' (gpg --list-secret-keys lists those it has)"
releases=()
for changes in "$packages"/debian*/*.changes; do
  [ -e "$changes" ] || fail "there are no packages in $packages; ./package.sh --debian NUMBER makes them"
  number=$(basename "$(dirname "$changes")")
  releases+=("${number#debian}")
done

mkdir -p "$repository/conf"
# One paragraph a release; those of other releases, added earlier, stay.
for number in "${releases[@]}"; do
  suite=$(suite_of "$number")
  ! grep -qx "Codename: $suite" "$repository/conf/distributions" 2>/dev/null || continue
  cat >>"$repository/conf/distributions" <<END
Origin: gst-hetero
Label: gst-hetero
Codename: $suite
Architectures: amd64 arm64 source
Components: main
Description: gst-hetero for Debian $number
SignWith: $fingerprint

END
done
sed -i "s/^SignWith: .*/SignWith: $fingerprint/" "$repository/conf/distributions"
for number in "${releases[@]}"; do
  for changes in "$packages/debian$number"/*.changes; do
    # Sections of the archive are no concern of a repository of one source.
    reprepro --silent --basedir "$repository" --ignore=wrongdistribution include "$(suite_of "$number")" "$changes" ||
      fail "reprepro could not add $changes"
  done
done
reprepro --silent --basedir "$repository" export
gpg --batch --armor --export "$fingerprint" >"$repository/gst-hetero.asc"

echo "Repository of Debian ${releases[*]}: $repository"
echo "On a machine that shall use it, as root:"
echo "  cp gst-hetero.asc /etc/apt/keyrings/"
echo "  echo 'deb [signed-by=/etc/apt/keyrings/gst-hetero.asc] URL_OF_THE_FOLDER $(suite_of "${releases[-1]}") main' > /etc/apt/sources.list.d/gst-hetero.list"
echo "  apt update && apt install gstreamer1.0-hetero hetero-tools"
