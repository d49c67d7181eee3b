# Sourced by scripts/long/neon.sh and arm64.sh, after environment.sh: a build for arm64 in build-arm64, which both share, and its programs
# under qemu.
# shellcheck shell=bash

# shellcheck source=scripts/sysroot.sh
. "$(dirname "${BASH_SOURCE[0]}")/sysroot.sh"

cross_folder=$root/build-arm64
cross_sysroot=$cross_folder/sysroot
cross_libraries=$cross_sysroot/usr/lib/aarch64-linux-gnu
# What OpenCV needs of libblas and liblapack lies where only their packages' installation would put links to.
cross_algebra=$cross_libraries/blas:$cross_libraries/lapack
# A processor with NEON and without SVE, where oneDNN 2.6 leaves out some activations (devices/cpu/README.md).
cross_emulator=(qemu-aarch64 -cpu cortex-a72 -L "$cross_sysroot")

# cross_configure: packages, the sysroot and the build folder.
cross_configure() {
  local ccache='' cross=() wrapper
  [ -e /etc/debian_version ] || fail "this check unpacks Debian's packages for arm64; it runs on Debian only"
  require build check cross
  mkdir -p "$cross_folder"
  make_sysroot arm64 "$cross_sysroot"
  ! command -v ccache >/dev/null || ccache="'ccache', "
  wrapper=$(printf "'%s', " "${cross_emulator[@]}" -E "LD_LIBRARY_PATH=$cross_algebra")
  cat >"$cross_folder/cross.ini" <<END
[constants]
sysroot = '$cross_sysroot'
libraries = '$cross_libraries'
[binaries]
c = [$ccache'aarch64-linux-gnu-gcc']
cpp = [$ccache'aarch64-linux-gnu-g++']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = [${wrapper%, }]
[properties]
sys_root = sysroot
pkg_config_libdir = [libraries + '/pkgconfig', sysroot + '/usr/share/pkgconfig']
[built-in options]
c_args = ['--sysroot=' + sysroot]
cpp_args = c_args
c_link_args = ['--sysroot=' + sysroot, '-Wl,-rpath-link,' + libraries + ':$cross_algebra']
cpp_link_args = c_link_args
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
END
  [ -e "$cross_folder/build.ninja" ] || cross=(--cross-file "$cross_folder/cross.ini")
  # Without the faster linkers: the cross compiler does not find them.
  CXX_LD='' configure "$cross_folder" "${cross[@]}" -Dtests=true
}

# emulated PROGRAM ARGUMENT...: a program for arm64.
emulated() {
  "${cross_emulator[@]}" -E "LD_LIBRARY_PATH=$cross_algebra" "$@"
}

# emulated_gstreamer PROGRAM ARGUMENT...: one of GStreamer's programs from the sysroot, with its plugins there and ours of the build. It
# reads plugins itself: it could start no process for that.
emulated_gstreamer() {
  local program=$1
  shift
  GST_REGISTRY_FORK=no GST_REGISTRY=$cross_folder/gst-registry.bin GST_PLUGIN_SYSTEM_PATH_1_0=$cross_libraries/gstreamer-1.0 \
    GST_PLUGIN_PATH=$cross_folder/gst emulated "$cross_sysroot/usr/bin/$program" "$@"
}
