#!/usr/bin/env bash
# What profilers of the ITT interface (VTune) see of us: builds with ittnotify, of which no Debian package has headers or a library,
# but which oneTBB's source package carries, and runs models and a pipeline with a collector of the tests' own, which lists domains
# and tasks. Needs a network the first time; nothing is installed.
#   ./check.sh --long itt
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"

# make_ittnotify FOLDER: ittnotify's headers in FOLDER/include, its static part in FOLDER/lib. Nothing to do when it is there.
make_ittnotify() {
  local folder=$1 state=$1.apt option
  [ ! -e "$folder/lib/libittnotify.a" ] || return 0
  [ -e /etc/debian_version ] || fail "oneTBB's source package, which has ittnotify, comes from Debian, and this is not Debian"
  progress "Getting ittnotify ..."
  rm -rf "$folder" "$state"
  mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/source" "$folder/include" "$folder/lib"
  # An apt of its own, since a system need not know where sources are.
  (. /etc/os-release && echo "deb-src http://deb.debian.org/debian $VERSION_CODENAME main") >"$state/sources.list"
  local apt=(apt-get -qq)
  for option in "APT::Sandbox::User=" Debug::NoLocking=1 "Dir::State::lists=$state/lists" "Dir::Cache=$state" \
    "Dir::Etc::sourcelist=$state/sources.list" "Dir::Etc::sourceparts=/dev/null"; do
    apt+=(-o "$option")
  done
  {
    "${apt[@]}" update && (cd "$state/source" && "${apt[@]}" source --download-only onetbb) &&
      tar -xf "$state"/source/onetbb_*.orig.tar.* -C "$folder/include" --strip-components=4 --wildcards '*/src/tbb/tools_api/*' &&
      # Hidden, so that no library takes another's part for its own.
      gcc -O1 -fPIC -fvisibility=hidden -c "$folder/include/ittnotify_static.c" -o "$state/ittnotify_static.o" &&
      ar rc "$folder/lib/libittnotify.a" "$state/ittnotify_static.o"
  } >"$state.log" 2>&1 || {
    progress_end
    tail -n 10 "$state.log" >&2
    fail "ittnotify could not be made from oneTBB's source package"
  }
  progress_end
  rm -rf "$state" "$state.log"
}

require build demo check
make_ittnotify "$root/build-itt-source"
export CPATH=$root/build-itt-source/include${CPATH:+:$CPATH}
export LIBRARY_PATH=$root/build-itt-source/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
configure build-itt -Dtests=true
grep -q itt_collector build-itt/build.ninja || fail "the build did not find ittnotify"
build build-itt tools/hetero tests/itt/itt_collector.so plugins
exec meson test -C build-itt --no-rebuild --verbose itt_tasks
