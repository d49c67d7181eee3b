#!/usr/bin/env bash
# One archive that tries the GPU device on another machine: programs, tests, small models and every library that they need, the C library
# too. docs/bundle.md says what is inside and how it is run.
#   scripts/bundle.sh [--build FOLDER] [FILE]   FILE: out/hetero-bundle.tar.xz, or another name that ends in .tar, .tar.xz or .tar.zst
# --build takes the programs of a build folder as they are, and says which of them it does not have; without it all are built in build-bundle.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

most_mib=60
# Tests look for these below HET_BUILD_ROOT.
programs="tools/hetero tests/devices/test_devices tests/devices/gpu_child tests/oracle/test_oracle"
modules="tests/opencl_layer/failing_layer.so tests/opencl_layer/naming_layer.so tests/opencl_layer/surface_layer.so
  tests/opencl_layer/faulty_layer.so examples/custom_operator/channel_scale.so"
benchmark=benchmarks/opencl_peak/bench_opencl_peak
# Tests look for these below HET_SOURCE_ROOT; the rest is for people.
sources="examples/custom_kernel examples/python/street.jpg pipelines/demo/models docs/bundle.md docs/self_test.md LICENSE"
# Packages that are compiled in, headers and static libraries, whose licences belong to the archive as well.
compiled_in="nlohmann-json3-dev libcli11-dev libprotozero-dev libexpected-dev libboost-graph-dev libhwy-dev libgtest-dev libgmock-dev"

build=
if [ "${1-}" = --build ]; then
  build=${2-}
  [ -e "$build/build.ninja" ] || fail "--build '$build': this is no build folder, it has no build.ninja; configure it with meson first"
  build=$(cd "$build" && pwd)
  shift 2
fi
file=${1:-$root/out/hetero-bundle.tar.xz}
case $file in
  -*) fail "unknown option '$file'; usage: scripts/bundle.sh [--build FOLDER] [FILE]" ;;
  *.tar) compress="cat" ;;
  *.tar.xz) compress="xz -9e -T1" ;;
  *.tar.zst) compress="zstd -q -19" ;;
  *) fail "'$file' ends in none of .tar, .tar.xz and .tar.zst, which say how the archive is compressed" ;;
esac
[ $# -le 1 ] || fail "one file is written, $# were named: $*"
[ -e /etc/debian_version ] || fail "the licences of the libraries inside come from Debian's packages; this is not Debian"
if [ -z "$build" ]; then
  require build check bundle
  build=${HET_BUNDLE_BUILD:-$root/build-bundle}
  configure "$build" -Dbuildtype=release -Dtests=true -Dbenchmarks=true
  # shellcheck disable=SC2086 # words
  build "$build" $programs $modules $benchmark
fi
for program in patchelf strip tar ${compress%% *}; do
  command -v "$program" >/dev/null || fail "the program $program is missing; install its package (group bundle of scripts/packages.txt)"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-bundle.XXXXXX")
trap 'rm -rf "$work"' EXIT
name=hetero-bundle
top=$work/$name
mkdir -p "$top/build" "$top/lib" "$top/system/c" "$top/system/cxx" "$top/source" "$top/licences"

# The programs, at the same places as in a build folder.
taken=
for program in $programs $modules $benchmark; do
  if [ ! -e "$build/$program" ]; then
    [ "$program" = $benchmark ] ||
      fail "$build has no $program; build it: ninja -C $build $program"
    echo "left out: $program ($build was configured without -Dbenchmarks=true)"
    continue
  fi
  install -D -m 755 "$build/$program" "$top/build/$program"
  taken="$taken $program"
done

# licence PACKAGE
licence() {
  [ ! -e "$top/licences/$1" ] || return 0
  cp -L "/usr/share/doc/$1/copyright" "$top/licences/$1" || fail "package $1 has no copyright file below /usr/share/doc"
}

# Every library that they load, at start or, as the loader of OpenCL is, later: the loader of programs and the C library in system/c, what
# compilers bring in system/cxx, all others in lib.
interpreter=$(patchelf --print-interpreter "$top/build/tools/hetero")
# The last are empty since glibc 2.34, but drivers ask for them, and those of another C library would not do.
c_names="libdl.so.2 libpthread.so.0 librt.so.1"
# shellcheck disable=SC2046,SC2086 # words
libraries=$(
  ldd $(printf "$build/%s " $taken) | sed -n 's/^\t[^ ]* => \(\/[^ ]*\) .*/\1/p; s/.* => not found/& /p'
  for library in $c_names; do echo "$(dirname "$(ldd "$build/tools/hetero" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')")/$library"; done
)
case $libraries in *"not found"*) fail "libraries are missing on this system: $libraries" ;; esac
mapfile -t libraries < <(sort -u <<<"$libraries")

# packages FILE: "/PATH PACKAGE" of the files. Of links the file behind them is asked for as well, and dpkg knows some without /usr.
packages() {
  local library real
  for library; do
    real=$(readlink -f "$library")
    printf '%s\n' "$library" "${library#/usr}" "$real" "${real#/usr}"
  done | sort -u | xargs dpkg-query -S 2>/dev/null | sed -n 's/^\([^:, ]*\)[^ ]* \(\/.*\)/\2 \1/p'
}
known=$(packages "${libraries[@]}" || true)
licence_packages=$compiled_in
for library in "${libraries[@]}"; do
  case $library in
    "$build"/*)
      cp -L "$library" "$top/lib/$(basename "$library")"
      continue
      ;;
  esac
  real=$(readlink -f "$library")
  package=$(awk -v a="$library" -v b="${library#/usr}" -v c="$real" -v d="${real#/usr}" \
    '$1 == a || $1 == b || $1 == c || $1 == d {print $2; exit}' <<<"$known")
  case $package in
    "") fail "the library $library belongs to no Debian package, so its licence is not known" ;;
    libc6) folder=system/c ;;
    libstdc++6 | libgcc-s1) folder=system/cxx ;;
    *) folder=lib ;;
  esac
  cp -L "$library" "$top/$folder/$(basename "$library")"
  licence_packages="$licence_packages $package"
done
cp -L "$interpreter" "$top/system/c/ld.so"
for package in $licence_packages; do licence "$package"; done

# What asks for a library finds it beside itself; the interpreter is named from the top folder, where run.sh begins everything.
# shellcheck disable=SC2086 # words
for file_inside in "$top"/lib/* "$top"/system/cxx/* $(printf "$top/build/%s " $taken); do
  up=$(realpath --relative-to="$(dirname "$file_inside")" "$top")
  strip --strip-unneeded "$file_inside"
  patchelf --set-rpath "\$ORIGIN/$up/lib:\$ORIGIN/$up/use/cxx:\$ORIGIN/$up/use/c" "$file_inside"
done
for program in $programs $benchmark; do
  # shellcheck disable=SC2046,SC2086 # words
  [ ! -e "$top/build/$program" ] || patchelf --set-interpreter use/ld.so \
    $(printf -- '--add-needed %s ' $c_names) "$top/build/$program"
done
# Which of the C libraries is used: ours, unless run.sh finds that the machine's own is newer.
mkdir "$top/use"
ln -s ../system/c "$top/use/c"
ln -s ../system/cxx "$top/use/cxx"
ln -s c/ld.so "$top/use/ld.so"

for source in $sources; do
  mkdir -p "$top/source/$(dirname "$source")"
  cp -r "$root/$source" "$top/source/$source"
done
cp "$root/scripts/bundle/run.sh" "$root/scripts/bundle/left_out.txt" "$top/"
commit=$(git -C "$root" -c safe.directory="$root" rev-parse HEAD 2>/dev/null || echo unknown)
printf 'commit %s\nbuilt on %s %s\nC library %s\n' "$commit" "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" "$(uname -m)" \
  "$("$interpreter" --version | sed -n '1s/.*version \([0-9.]*[0-9]\).*/\1/p')" >"$top/version.txt"

mkdir -p "$(dirname "$file")"
# Two archives of the same programs are the same bytes.
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - "$name" | $compress >"$file.part"
mv "$file.part" "$file"
bytes=$(stat -c %s "$file")
echo "$file: $((bytes / 1048576)) MiB, $(du -sm "$top" | cut -f1) MiB unpacked"
[ "${file%.tar}" != "$file" ] || [ "$bytes" -le $((most_mib * 1048576)) ] || fail "$file has $bytes bytes, more than $most_mib MiB"
