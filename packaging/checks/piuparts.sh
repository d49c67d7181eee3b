#!/usr/bin/env bash
# piuparts: installing, removing and purging leave a minimal system as it was.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
cp -a "$fresh" "$place/minimal"
rm "$place/minimal/usr/sbin/policy-rc.d"
install piuparts
mapfile -t files < <(built)
inside piuparts --distribution "$suite" --existing-chroot "$place/minimal" --keep-sources-list --no-eatmydata --tmpdir "$place" \
  --log-level info "${files[@]}" >"$place/piuparts.log" 2>&1 || {
  grep -A 40 -m 1 'ERROR: FAIL' "$place/piuparts.log" >&2 || tail -n 40 "$place/piuparts.log" >&2
  fail "piuparts is not content"
}
tail -n 1 "$place/piuparts.log"
