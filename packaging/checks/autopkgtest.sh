#!/usr/bin/env bash
# autopkgtest: the packages' own tests (packaging/debian/tests) on a system that has what they depend on and nothing else.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
install autopkgtest dpkg-dev apt-utils
mapfile -t files < <(built)
status=0
inside autopkgtest "${files[@]}" "$(echo "$packages"/*.dsc)" -- null >"$place/autopkgtest.log" 2>&1 || status=$?
[ "$status" = 0 ] || tail -n 60 "$place/autopkgtest.log" >&2
sed -n '/@@@@@.* summary/,$p' "$place/autopkgtest.log"
[ "$status" = 0 ] || fail "autopkgtest ended with $status"
