#!/usr/bin/env bash
# The Python package as sdist and wheel, tried where nothing else of the project is: in a new virtual environment and, as root and for
# Debian's Python, in a new Debian of this release that has Python alone. Lists the libraries inside; a picture and tensors on CPU beside
# REF; where every library comes from.
#   ./check.sh --long wheel [PYTHON...]      default: /usr/bin/python3
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

folder=$root/build-wheel
mkdir -p "$folder"
place=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-wheel-check.XXXXXX")
trap 'remove_chroot "$place"' EXIT

# content WHEEL: its libraries; nothing beside the package.
content() {
  local names
  names=$("$python" -m zipfile -l "$1" | awk 'NR > 1 { print $1, $NF }')
  awk '$1 ~ /\.so/ { printf "%10.1f MB  %s\n", $2 / 1e6, $1 }' <<<"$names"
  ! awk '{ print $1 }' <<<"$names" | grep -vE '^(hetero/|hetero\.libs/|\.hetero\.mesonpy\.libs/|hetero-[^/]*\.dist-info/)' ||
    fail "these do not belong into $1"
}

# try_wheel ENVIRONMENT [COMMAND...]: what is installed there, without OpenCL; a command runs it in a chroot.
try_wheel() {
  local environment=$1
  shift
  "$@" env -i PATH=/usr/bin:/bin HOME=/nonexistent GST_HETERO_CACHE_DIR= "OCL_ICD_VENDORS=$place" "$environment/bin/python" -I \
    "$root/packaging/checks/python_package.py" "$root/pipelines/demo/models" "$root/docs/demo.jpg" "$environment"
}

[ $# -gt 0 ] || set -- /usr/bin/python3
for python; do
  ./package.sh --wheel --python "$python" --output "$folder/wheels"
  version=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  wheel=$(find "$folder/wheels" -name "hetero-*-$version-$version-*.whl" -printf '%T@ %p\n' | sort -n | sed -n '$s/^[^ ]* //p')
  content "$wheel"
  "$python" -m venv "$place/$version"
  "$place/$version/bin/pip" install -q --disable-pip-version-check "$wheel" pillow || fail "pip could not install $wheel"
  try_wheel "$place/$version"
  if [ "$python" != /usr/bin/python3 ] || [ -z "$(debian_release)" ]; then
    continue
  elif [ "$(id -u)" != 0 ]; then
    echo "not tried in a new system: a chroot needs root"
    continue
  fi
  require_chroot
  make_chroot "$(debian_release)" "$place/system"
  in_chroot "$place/system" "$root $place" DEBIAN_FRONTEND=noninteractive sh -euc "
    apt-get -qq update && apt-get -qq -y --no-install-recommends install python3-venv
    python3 -m venv /root/venv
    /root/venv/bin/pip install -q --disable-pip-version-check '$wheel' pillow
    ! find /usr/lib -name 'libdnnl*' -o -name 'libOpenCL*' -o -name 'libgomp*' | grep ." >"$place/system.log" 2>&1 || {
    tail -n 20 "$place/system.log" >&2
    fail "the wheel could not be installed in a new Debian"
  }
  echo "in a new Debian $(debian_release) with Python alone:"
  try_wheel /root/venv in_chroot "$place/system" "$root $place"
done
echo "wheels: $folder/wheels"
