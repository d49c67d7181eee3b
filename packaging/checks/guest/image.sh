#!/usr/bin/env bash
# The guest's system: this machine's Debian release with systemd, a kernel, GStreamer and what the staged build links, as a file system in
# a file, made once. The payload disk (payload.sh) brings everything that changes. Needs root. Usage: image.sh STAGE; prints its folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
# shellcheck source=scripts/chroot.sh
. "$root/scripts/chroot.sh"

stage=${1:?the folder of a staged build}
number=$(debian_release)
suite_of "$number" >/dev/null
require_chroot >&2
[ "$(uname -m)" = x86_64 ] || unable "the guest is an x86-64 machine with this machine's build, and this is $(uname -m)"
folder=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/gst-hetero-guest

# package_of FILE: that it belongs to. Packages of before the merge of /lib and /usr/lib name the one or the other.
package_of() {
  local real
  real=$(realpath "$1")
  { dpkg-query -S "$1" "$real" "/usr$real" "${real#/usr}" 2>/dev/null || true; } | sed -n '1s/:.*//p'
}

# linked_packages: of all libraries that programs and libraries of the stage need and that do not lie there.
linked_packages() {
  local file
  find "$stage" -type f \( -name '*.so*' -o -perm /111 \) ! -name '*.sh' ! -name '*.py' -print0 |
    LD_LIBRARY_PATH=$stage/usr/local/lib/x86_64-linux-gnu xargs -0 ldd | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    while read -r file; do
      case $file in "$stage"/*) ;; *) package_of "$file" ;; esac
    done | sort -u
}

mapfile -t packages < <(
  linked_packages
  printf '%s\n' systemd systemd-sysv dbus udev kmod initramfs-tools linux-image-cloud-amd64 procps python3 \
    gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
)
wanted="$number ${packages[*]} $(sha256sum "$0" | cut -c1-16)"
if [ "$(cat "$folder/complete" 2>/dev/null)" != "$wanted" ]; then
  echo "Making the guest's system in $folder" >&2
  partial=$folder.partial
  trap 'remove_chroot "$partial"' EXIT
  remove_chroot "$partial"
  mkdir -p "$partial"
  system=$partial/system
  make_chroot "$number" "$system" >&2
  mkdir -p "$system/etc/initramfs-tools/conf.d"
  # Only the modules that reach the disk: the emulated processors unpack them at every start.
  echo MODULES=list >"$system/etc/initramfs-tools/conf.d/modules"
  printf 'virtio_pci\nvirtio_blk\next4\n' >"$system/etc/initramfs-tools/modules"
  printf '/dev/vda / ext4 defaults 0 0\n' >"$system/etc/fstab"
  printf 'guest\n' >"$system/etc/hostname"
  in_chroot "$system" "" DEBIAN_FRONTEND=noninteractive sh -euc "apt-get -qq update
    apt-get -qq -y --no-install-recommends install ${packages[*]}
    apt-get clean
    rm -rf /var/lib/apt/lists/*
    # Nothing that waits for the world, nobody who logs in.
    systemctl mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer getty@tty1.service \
      serial-getty@ttyS0.service systemd-timesyncd.service e2scrub_reap.service 2>&1
    GST_REGISTRY_FORK=no gst-inspect-1.0 videotestsrc >/dev/null" >"$partial/system.log" 2>&1 || {
    tail -n 20 "$partial/system.log" >&2
    fail "the guest's packages could not be installed"
  }
  install -m 644 "$(dirname "$0")/guest-piece.service" "$system/etc/systemd/system/guest-piece.service"
  ln -s ../guest-piece.service "$system/etc/systemd/system/multi-user.target.wants/guest-piece.service"
  cp "$(echo "$system"/boot/vmlinuz-*)" "$partial/kernel"
  cp "$(echo "$system"/boot/initrd.img-*)" "$partial/initrd"
  # Room for what a piece writes.
  mke2fs -q -t ext4 -d "$system" "$partial/system.ext4" "$(($(du -sm --one-file-system "$system" | cut -f1) + 512))M" >&2
  remove_chroot "$system"
  echo "$wanted" >"$partial/complete"
  remove_chroot "$folder"
  mv "$partial" "$folder"
  trap - EXIT
fi
echo "$folder"
