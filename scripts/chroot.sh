# Sourced by scripts/debian.sh and scripts/long/fresh.sh, after environment.sh: a Debian release in a folder, and commands that run in it.
# Needs root. All mounts live in a namespace of their own, which ends with its processes however they end: none is ever left behind.
# shellcheck shell=bash

# suite_of NUMBER: the name of a Debian release.
suite_of() {
  case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    14) echo forky ;;
    *) fail "no recipe for Debian '$1'; known are 12, 13 and 14" ;;
  esac
}

# For what this machine lacks; status 77, as a skipped test has.
unable() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 77
}

require_chroot() {
  [ "$(id -u)" = 0 ] || unable "a chroot needs root: run it as root, or with sudo"
  command -v apt-get >/dev/null || unable "debootstrap needs a Debian here; this system has no apt-get"
  require chroot
  unshare --mount --pid --fork true 2>/dev/null ||
    unable "root may not mount here (a container without CAP_SYS_ADMIN?), and a chroot needs /proc and the checkout"
}

# isolated COMMAND...: in namespaces of its own for mounts and processes. A signal to us ends all that it started.
isolated() {
  local status=0
  unshare --mount --pid --fork --kill-child "$@" &
  # shellcheck disable=SC2064 # this very process
  trap "kill -KILL $! 2>/dev/null || true; exit 130" INT TERM HUP
  wait $! || status=$?
  trap - INT TERM HUP
  return $status
}

# make_chroot NUMBER FOLDER: a minimal system of this release, from the archive that this system uses.
make_chroot() {
  local suite uri
  suite=$(suite_of "$1")
  # shellcheck disable=SC2016 # apt's fields
  uri=$(apt-get indextargets --format '$(REPO_URI) $(SUITE)' 2>/dev/null |
    awk '$2 !~ /security|updates|backports/ && !uri {uri = $1} END {print uri}')
  uri=${uri:-http://deb.debian.org/debian}
  mkdir -p "$2"
  # Of releases that are newer than this debootstrap: as unstable.
  local script=/usr/share/debootstrap/scripts/$suite
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  isolated debootstrap --variant=minbase "$suite" "$2" "$uri" "$script" >"$2.log" 2>&1 || {
    tail -n 5 "$2.log" >&2
    unable "debootstrap could not get Debian $1 ($suite) from $uri (no network?); its whole output is in $2.log"
  }
  rm "$2.log"
  mkdir -p "$2/etc/ssl" "$2/usr/local/share"
  # What this machine's administrator has set, a proxy say; files of packages come with these.
  local file
  for file in /etc/apt/apt.conf.d/*; do
    dpkg-query -S "$file" >/dev/null 2>&1 || cp -a "$file" "$2/etc/apt/apt.conf.d/"
  done
  [ ! -d /etc/ssl/certs ] || cp -aL /etc/ssl/certs "$2/etc/ssl/"
  [ ! -d /usr/local/share/ca-certificates ] || cp -aL /usr/local/share/ca-certificates "$2/usr/local/share/"
  # Packages need not survive a power cut, and come in half the time.
  echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/unsafe-io"
}

# in_chroot FOLDER PATHS [VARIABLE=VALUE...] COMMAND...: runs it there. PATHS, separated by spaces, are folders of this system that lie at
# the same places there.
in_chroot() {
  local folder=$1 paths=$2
  shift 2
  cp -L /etc/resolv.conf /etc/hosts "$folder/etc/" 2>/dev/null || true
  # shellcheck disable=SC2016 # expanded inside
  isolated bash -euc '
    folder=$1 paths=$2
    shift 2
    mount -t proc proc "$folder/proc"
    mount --rbind /sys "$folder/sys"
    mount --rbind /dev "$folder/dev"
    for path in $paths; do
      mkdir -p "$folder$path"
      mount --bind "$path" "$folder$path"
    done
    exec chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"
  ' in_chroot "$folder" "$paths" "$@"
}

remove_chroot() {
  rm -rf --one-file-system "$1"
}
