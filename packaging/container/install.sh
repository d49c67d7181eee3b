#!/bin/sh
# Inside the image: installs packages without what only a person at a terminal needs. Usage: install.sh REPOSITORY PACKAGE...; the
# repository is a folder that ./package.sh --repository has made.
set -eu
repository=$1
shift
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
export DEBIAN_FRONTEND=noninteractive
echo "deb [signed-by=$repository/gst-hetero.asc] file:$repository $suite main" >/etc/apt/sources.list.d/gst-hetero.list
# Before the packages, one of which has a user of this name: the same number in every image.
id hetero >/dev/null 2>&1 || useradd --uid 1000 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin hetero
apt-get -qq update
apt-get -qq -y --no-install-recommends install "$@"
rm -rf /etc/apt/sources.list.d/gst-hetero.list /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/log/*.log /var/log/apt
# What GStreamer knows of its plugins, written now: the root is read-only later.
mkdir -p /var/cache/gstreamer-1.0
GST_REGISTRY=/var/cache/gstreamer-1.0/registry.bin gst-inspect-1.0 heterodetect >/dev/null
# For a volume, which begins as this folder is.
install -d -o hetero -g hetero /var/cache/hetero
