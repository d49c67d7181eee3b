#!/usr/bin/env bash
# Debian packages of this commit, built in a chroot of the release that holds nothing but what they build from. Needs root.
#   ./package.sh [--debian 12|13] [--output DIR]      default: this system's release, out/packages/debian12 (or 13)
#   ./package.sh --repository DIR --key KEY           an apt repository, signed with a key of GnuPG, of the packages in out/packages
#   ./package.sh --wheel [--python PYTHON] [--output DIR]   the Python package as sdist and wheel, here: /usr/bin/python3, out/wheels
set -euo pipefail
root=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"
# shellcheck source=packaging/source.sh
. "$root/packaging/source.sh"

number='' output='' repository='' key='' wheel='' python=''
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --wheel) wheel=yes; shift; continue ;;
    --debian | --output | --repository | --key | --python) [ $# -ge 2 ] || fail "$1 needs a value" ;;
    *) fail "unknown option '$1'; usage: ./package.sh [--debian 12|13] [--output DIR] | --repository DIR --key KEY |
--wheel [--python PYTHON] [--output DIR]" ;;
  esac
  case $1 in
    --debian) number=$2 ;;
    --output) output=$2 ;;
    --repository) repository=$2 ;;
    --key) key=$2 ;;
    --python) python=$2 ;;
  esac
  shift 2
done
if [ -n "$repository" ]; then
  [ -n "$key" ] || fail "--repository needs --key: the key of GnuPG that signs it (gpg --list-secret-keys)"
  exec "$root/packaging/repository.sh" "$repository" "$key" "$root/out/packages"
fi
[ -z "$key" ] || fail "--key needs --repository"
if [ -n "$wheel" ]; then
  [ -z "$number" ] || fail "--wheel is for this system, without --debian"
  exec "$root/packaging/wheel.sh" "${output:-$root/out/wheels}" "${python:-/usr/bin/python3}"
fi
[ -z "$python" ] || fail "--python needs --wheel"

if [ -z "$number" ]; then
  number=$(debian_release)
  [ -n "$number" ] || fail "this system is no Debian: say which release with --debian 12 or --debian 13"
fi
suite=$(suite_of "$number")
require_chroot
require package
output=${output:-$root/out/packages/debian$number}
started=$(date +%s)
work=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-package.XXXXXX")
trap 'remove_chroot "$work"' EXIT
version=$(package_version "$number")
progress "Writing the source package $version ..."
make_source "$work/source" "$version" "$suite"
progress_end "Source package $version"

# Kept: the release with the packages that this one is built from, but for those of an earlier commit nothing else.
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/gst-hetero-package$number
if [ ! -d "$folder" ]; then
  progress "Making Debian $number in $folder ..."
  remove_chroot "$folder.partial"
  make_chroot "$number" "$folder.partial"
  mv "$folder.partial" "$folder"
  progress_end
fi
in_chroot "$folder" "$work" bash -c "exec 9>&1 >'$work/apt.log' 2>&1
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update && apt-get -qq -y --no-install-recommends -o APT::Status-Fd=9 install build-essential fakeroot &&
  apt-get -qq -y --no-install-recommends -o APT::Status-Fd=9 build-dep '$work/source/gst-hetero_$version.dsc'" |
  apt_progress "Installing what it is built from" || {
  tail -n 20 "$work/apt.log" >&2
  fail "apt-get could not install what the packages are built from"
}
# Not as root, as Debian's own machines do.
chmod 755 "$work"
chown -R nobody: "$work/source"
in_chroot "$folder" "$work" HOME=/nonexistent \
  setpriv --reuid nobody --regid nogroup --clear-groups bash -euc "cd '$work/source'
  dpkg-source --extract 'gst-hetero_$version.dsc' build
  cd build
  DEB_BUILD_OPTIONS='parallel=$(nproc)' dpkg-buildpackage -us -uc" 2>&1 | tee "$work/build.log" | ninja_progress Building || {
  grep -B 5 -A 30 -m 3 -E '^FAILED|error:|^dh_[a-z]*: error|dpkg-gensymbols: ' "$work/build.log" >&2 || tail -n 40 "$work/build.log" >&2
  mkdir -p "$output"
  mv "$work/build.log" "$output/build.log"
  fail "the packages could not be built; the whole output is in $output/build.log"
}
mkdir -p "$output"
remove_packages "$output"
find "$work/source" -maxdepth 1 -type f -exec mv -t "$output" {} +
mv "$work/build.log" "$output/build.log"
(cd "$output" && du -h -- *.deb)
echo "To install: apt install $output/{gstreamer1.0-hetero,hetero-tools,libhetinference-1.0-0}_*.deb"
echo "Packages of $version for Debian $number: $output ($(($(date +%s) - started)) s)"
