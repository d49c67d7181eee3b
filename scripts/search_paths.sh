#!/bin/sh
# Run by meson install, but not where it only stages (DESTDIR): prints what to export so that GStreamer, the loader, pkg-config and the
# shell find what was installed; nothing where they do already.
# Usage: search_paths.sh LIBDIR PLUGINDIR BINDIR GSTREAMER_PLUGINDIR, all absolute.
set -eu

libdir=$1 plugindir=$2 bindir=$3 gstreamer_plugindir=$4
library=libhetinference-1.0.so.0
PATH=$PATH:/usr/sbin:/sbin

[ -z "${MESON_INSTALL_QUIET-}" ] || exit 0
# Meson 1.0 drops what a script prints: it is written to Meson's own output.
if [ -n "${MESON_INSTALL_PREFIX-}" ] && [ -w "/proc/$PPID/fd/1" ]; then
  exec >>"/proc/$PPID/fd/1"
fi

# has FOLDER LIST: whether a list that is separated by colons names the folder.
has() {
  case :$2: in *:"$1":* | *:"$1"/:*) return 0 ;; esac
  return 1
}

cached_libraries() {
  ldconfig -p 2>/dev/null | sed -n "s/^[[:blank:]]*$library .* => //p"
}

loader_folders() {
  ldconfig -N -X -v 2>/dev/null | sed -n 's/^\(\/.*\): (.*/\1/p'
}

# is_among PATH: whether a line of the input is this file or folder.
is_among() {
  wanted=$(readlink -f "$1") || return 1
  while read -r path; do
    [ "$(readlink -f "$path")" != "$wanted" ] || return 0
  done
  return 1
}

# add VARIABLE FOLDER
add() {
  exports="$exports
  export $1=\"$2\${$1:+:\$$1}\""
}

exports=
has "$plugindir" "$gstreamer_plugindir:${GST_PLUGIN_PATH-}:${GST_PLUGIN_PATH_1_0-}" || add GST_PLUGIN_PATH "$plugindir"
# The cache has what ldconfig saw last; folders that it would look into need another run of it.
if has "$libdir" "${LD_LIBRARY_PATH-}" || cached_libraries | is_among "$libdir/$library"; then
  :
elif loader_folders | is_among "$libdir"; then
  exports="$exports
  ldconfig    # as root"
else
  add LD_LIBRARY_PATH "$libdir"
fi
if command -v pkg-config >/dev/null; then
  has "$libdir/pkgconfig" "${PKG_CONFIG_PATH-}:$(pkg-config --variable pc_path pkg-config)" || add PKG_CONFIG_PATH "$libdir/pkgconfig"
fi
has "$bindir" "$PATH" || add PATH "$bindir"

[ -z "$exports" ] || echo "GStreamer, the loader, pkg-config and the shell find what was installed after:$exports"
