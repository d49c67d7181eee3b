# Sourced by scripts/long: libraries of another architecture in a folder. Needs environment.sh.
# shellcheck shell=bash

# make_sysroot ARCHITECTURE FOLDER: the libraries of the groups build and check and GStreamer's programs and plugins of the group demo for
# that architecture of Debian, with all that they depend on, unpacked into FOLDER. Nothing is installed, and dpkg's list of architectures
# stays as it is. Nothing to do when it is there.
make_sysroot() {
  local architecture=$1 folder=$2 state=$2.apt libraries option package
  libraries=$(awk '($1 == "build" || $1 == "check") && $2 ~ /-dev$/ || $1 == "demo" && $2 ~ /^gstreamer1\.0-/ { print $2 }' \
    "$root/scripts/packages.txt")
  [ "$(cat "$folder/libraries" 2>/dev/null)" != "$libraries" ] || return 0
  echo "Unpacking Debian's libraries for $architecture into $folder"
  rm -rf "$folder" "$state"
  mkdir -p "$state/lists/partial" "$state/archives/partial" "$folder/usr/bin" "$folder/usr/sbin" "$folder/usr/lib"
  # /bin, /sbin and /lib are links in Debian.
  ln -s usr/bin usr/sbin usr/lib "$folder"
  : >"$state/status"
  # An apt of its own, for which nothing is installed yet.
  local apt=(apt-get -qq -y)
  for option in "APT::Architecture=$architecture" "APT::Architectures=$architecture" "APT::Sandbox::User=" Debug::NoLocking=1 \
    "Dir::State=$state" "Dir::State::status=$state/status" "Dir::Cache=$state"; do
    apt+=(-o "$option")
  done
  # shellcheck disable=SC2086 # one word a package
  {
    "${apt[@]}" update && "${apt[@]}" install --download-only --no-install-recommends $libraries
  } >"$state.log" 2>&1 || {
    tail -n 10 "$state.log" >&2
    fail "apt-get could not get the libraries for $architecture"
  }
  for package in "$state"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$folder" --keep-directory-symlink --exclude='./usr/share/doc' --exclude='./usr/share/locale' ||
      fail "$package could not be unpacked"
  done
  rm -rf "$state" "$state.log"
  echo "$libraries" >"$folder/libraries"
}
