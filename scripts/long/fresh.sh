#!/usr/bin/env bash
# The README's two commands in a fresh Debian 12 with nothing installed: debootstrap makes a chroot,
# a clone of the committed state goes into it, and each command runs there. Prints the times. Needs
# root and about 6 GB under $TMPDIR. HET_FRESH_COMMANDS="./demo.sh" runs only that one.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
[ "$(id -u)" = 0 ] || fail "a chroot needs root"
command -v debootstrap >/dev/null || as_root apt-get -qq -y install debootstrap >/dev/null

uri=$(apt-get indextargets --format '$(REPO_URI) $(SUITE)' | awk '$2 !~ /security|updates/ {print $1; exit}')
for command in ${HET_FRESH_COMMANDS:-./demo.sh ./check.sh}; do
  chroot=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-fresh.XXXXXX")
  trap 'umount -q "$chroot/proc" "$chroot/dev" "$chroot/sys" || true; rm -rf --one-file-system "$chroot"' EXIT
  debootstrap --variant=minbase bookworm "$chroot" "$uri" >"$chroot.log" 2>&1 || { tail "$chroot.log"; exit 1; }
  cp -a /etc/apt/apt.conf.d/. "$chroot/etc/apt/apt.conf.d/"
  cp -a /etc/ssl/certs /usr/share/ca-certificates "$chroot/tmp/" && mkdir -p "$chroot/etc/ssl" && cp -aL /etc/ssl/certs "$chroot/etc/ssl/"
  cp -L /etc/resolv.conf /etc/hosts "$chroot/etc/"
  mount -t proc proc "$chroot/proc"
  mount --rbind /sys "$chroot/sys"
  mount --bind /dev "$chroot/dev"
  git clone -q "$root" "$chroot/root/gst-hetero"
  start=$(date +%s)
  status=0
  chroot "$chroot" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    bash -c "cd /root/gst-hetero && $command" || status=$?
  echo "$command in a fresh Debian 12: exit status $status, $(($(date +%s) - start)) s"
  umount -q "$chroot/dev" "$chroot/proc"; umount -ql "$chroot/sys"
  rm -rf --one-file-system "$chroot"
  trap - EXIT
  [ "$status" = 0 ] || exit "$status"
done
