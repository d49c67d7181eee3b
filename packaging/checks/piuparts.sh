#!/usr/bin/env bash
# piuparts: installing, removing and purging leave a minimal system as it was.
# shellcheck source=packaging/checks/begin.sh
. "$(dirname "$0")/begin.sh"
cp -a "$fresh" "$place/minimal"
rm "$place/minimal/usr/sbin/policy-rc.d"
install piuparts
# What systemd leaves, which a minimal system gets for the user of hetero-vpud.
systemds='^/(root/\.ssh|var/(cache|lib|log)/private|var/lib/systemd/(coredump|pstore))/?$'
mapfile -t files < <(built)
inside piuparts --distribution "$suite" --existing-chroot "$place/minimal" --keep-sources-list --no-eatmydata --tmpdir "$place" --ignore-regex "$systemds" \
  --log-level info "${files[@]}" >"$place/piuparts.log" 2>&1 || {
  grep -A 40 -m 1 'ERROR: FAIL' "$place/piuparts.log" >&2 || tail -n 40 "$place/piuparts.log" >&2
  fail "piuparts is not content"
}
grep -o "PASS: All tests." "$place/piuparts.log"
