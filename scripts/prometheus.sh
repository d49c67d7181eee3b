#!/usr/bin/env bash
# Debian's Prometheus, promtool and the Python client's parser in a folder, unpacked: nothing is installed and no service begins.
# Usage: prometheus.sh FOLDER, which then has usr/bin/prometheus. Nothing to do when it is there. Ends with status 75 where it cannot be had.
set -euo pipefail
folder=$1
packages=(prometheus python3-prometheus-client)
[ ! -e "$folder/complete" ] || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
  echo "Prometheus is Debian's package; there is no apt-get here"
  exit 75
}
# From Debian 13 on promtool is a package of its own.
! apt-cache show promtool >/dev/null 2>&1 || packages+=(promtool)
rm -rf "$folder"
mkdir -p "$folder/packages"
cd "$folder/packages"
apt-get -qq -o APT::Sandbox::User= download "${packages[@]}" || {
  echo "apt-get cannot get ${packages[*]}: is there a network, and are the lists of packages there (apt-get update)?"
  exit 75
}
for package in ./*.deb; do
  dpkg-deb --extract "$package" "$folder"
done
rm -r "$folder/packages"
touch "$folder/complete"
