# An instance is killed: it is back after its back-off, on its node, and what it wrote before is kept; the other one goes on all the time.
# shellcheck shell=bash source=packaging/checks/guest/in_guest.sh
. /usr/local/guest/in_guest.sh
# shellcheck disable=SC2086 # one word a word of the pipeline
hetero-launch --name killed -- $pictures ! $detector ! $publish file-path="/tmp/found-{instance}.json" ! fakesink &
launcher=$!
within 300 "that both instances play" is_well killed
within 120 "10 frames of each instance" has_frames killed 10
mapfile -t before < <(frames_of killed)
victim=$(awk '$1 == 0 { print $4 }' <<<"${before[0]}")
other=$(awk '{ print $4 }' <<<"${before[1]}")
kill -KILL "$victim"
began=$SECONDS
is_back() { frames_of killed | awk '$1 == 0 && $3 == 2 && $2 > 0 { back = 1 } END { exit !back }' && is_well killed; }
within 120 "that the killed instance is back" is_back
echo "back, frames and all, after $((SECONDS - began)) s, most of which its start takes here"
within 60 "30 frames of each instance" has_frames killed 30
hetero-launch --status killed
mapfile -t after < <(frames_of killed)
read -r _ frames runs pid <<<"${after[1]}"
[ "$pid $runs" = "$other 1" ] || fail "the other instance was started again, too"
read -r _ frames_before _ _ <<<"${before[1]}"
[ "$frames" -gt "$frames_before" ] || fail "the other instance stood still"
mapfile -t instances < <(instances_of killed)
python3 "$guest/placement.py" "${instances[@]}" || fail "an instance is not where it should be"
kill -INT "$launcher"
status=0
wait "$launcher" || status=$?
[ "$status" = 0 ] || fail "the launch ended with status $status after Ctrl-C"
ls -l /tmp/found-*
complete /tmp/found-0.json
# One file with one row of frames: none was lost, none came twice.
complete /tmp/found-1.json
