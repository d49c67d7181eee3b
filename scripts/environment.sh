# Sourced by ./demo.sh, ./check.sh, scripts/debian.sh, scripts/long and benchmarks/load: installs what is missing and builds. Needs $root, the checkout.
# shellcheck shell=bash

# shellcheck source=scripts/progress.sh
. "$(dirname "${BASH_SOURCE[0]}")/progress.sh"

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Runs a command as root: directly, or through sudo.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "these packages are missing and neither root nor sudo is at hand to install them: $missing"
  fi
}

probe() {
  local what=${1%%:*} name=${1#*:}
  case $what in
    cmd) command -v "$name" >/dev/null ;;
    pc) pkg-config --exists "$name" 2>/dev/null ;;
    header) [ -e "/usr/include/$name" ] || [ -e "/usr/local/include/$name" ] || [ -e "$name" ] ;;
    element) gst-inspect-1.0 --exists "$name" 2>/dev/null ;;
    python) /usr/bin/python3 -c "import $name" 2>/dev/null ;;
    *) fail "scripts/packages.txt has an unknown probe '$1'" ;;
  esac
}

# debian_release: the number of this Debian, nothing on other systems. Testing has a name only.
debian_release() (
  VERSION_ID='' VERSION_CODENAME=''
  # shellcheck source=/dev/null
  [ ! -e /etc/debian_version ] || . /etc/os-release
  case $VERSION_CODENAME in
    forky) echo "${VERSION_ID:-14}" ;;
    *) echo "$VERSION_ID" ;;
  esac
)

# require GROUP...: every package of these groups is there afterwards.
require() {
  local group package how release here
  here=$(debian_release)
  missing=
  while read -r group package how release; do
    case " $* " in *" $group "*) ;; *) continue ;; esac
    if [ -e /etc/debian_version ]; then
      [ -z "$release" ] || [ "$release" = "$here" ] || continue
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
        missing="$missing $package"
    else
      probe "$how" || missing="$missing $package($how)"
    fi
  done < <(grep -v '^#' "$root/scripts/packages.txt")
  [ -n "$missing" ] || return 0
  [ -e /etc/debian_version ] ||
    fail "this is not Debian; install the equivalents of these packages (probe in brackets):$missing"
  local log=${TMPDIR:-/tmp}/gst-hetero-apt.log
  # Only standard output passes through sudo, so apt's report of its progress takes its place.
  as_root env DEBIAN_FRONTEND=noninteractive sh -c '
    log=$1
    shift
    exec 9>&1 >"$log" 2>&1
    apt-get -qq update && apt-get -qq -y --no-install-recommends -o APT::Status-Fd=9 install "$@"
  ' sh "$log" $missing | apt_progress "Installing $(wc -w <<<"$missing") Debian package(s)" || {
    tail -n 20 "$log" >&2
    fail "apt-get could not install:$missing"
  }
}

# The linker of a new build folder, as Meson takes it: a faster one where it is installed.
faster_linker() {
  local name
  for name in mold lld; do
    if command -v "${name/lld/ld.lld}" >/dev/null; then
      echo "$name"
      return
    fi
  done
}

# configure DIR OPTION...: a build folder with these options; nothing to do when it is there.
configure() {
  local dir=$1
  shift
  if [ ! -e "$dir/build.ninja" ]; then
    progress "Configuring $(basename "$dir") ..."
    CXX_LD=${CXX_LD-$(faster_linker)} meson setup "$dir" "$root" "$@" >"$dir.log" 2>&1 || {
      progress_end
      tail -n 30 "$dir.log" >&2
      fail "meson could not configure $dir"
    }
    progress_end
  else
    meson configure "$dir" "$@" >/dev/null
  fi
}

# build DIR TARGET...: compiles what changed; prints the compiler's output on failure only.
build() {
  local dir=$1
  shift
  NINJA_STATUS='[%f/%t] ' ninja -j "$(nproc)" -C "$dir" "$@" 2>&1 | tee "$dir.log" | ninja_progress Building || {
    grep -A 30 -m 3 -E 'FAILED|error:' "$dir.log" >&2 || tail -n 40 "$dir.log" >&2
    fail "the build in $dir failed; the whole output is in $dir.log"
  }
}

# python_environment FOLDER ARGUMENT...: FOLDER/bin/python has what pip installs from PyPI with these arguments; nothing to do when
# it did so before and the files among the arguments are the same. Needs a network the first time.
python_environment() {
  local folder=$1 argument wanted
  shift
  wanted=$(for argument; do
    echo "$argument"
    [ ! -f "$argument" ] || cat "$argument"
  done)
  [ "$(cat "$folder/complete" 2>/dev/null)" != "$wanted" ] || return 0
  /usr/bin/python3 -m venv "$folder" || fail "python3 could not make a virtual environment in $folder"
  "$folder/bin/pip" install -q --disable-pip-version-check "$@" || fail "pip could not install from PyPI: $*"
  echo "$wanted" > "$folder/complete"
}

# forget_results FOLDER [TEST]: a GoogleTest program that crashes leaves no results of its own, and meson would take those of a run before.
forget_results() {
  find "$1" -maxdepth 1 -name "${2-*}.xml" -delete
}
