# Two instances of one pipeline: each has all its threads and its memory on a node of its own. Ctrl-C ends both with complete files.
# shellcheck shell=bash source=packaging/checks/guest/in_guest.sh
. /usr/local/guest/in_guest.sh
# shellcheck disable=SC2086 # one word a word of the pipeline
hetero-launch --name nodes -- $pictures ! $detector ! $publish file-path="/tmp/found-{instance}.json" ! fakesink &
launcher=$!
within 300 "that both instances play" is_well nodes
within 120 "20 frames of each instance" has_frames nodes 20
hetero-launch --status nodes
mapfile -t instances < <(instances_of nodes)
[ ${#instances[@]} = 2 ] || fail "${#instances[@]} instances run, and there are 2 nodes"
python3 "$guest/placement.py" "${instances[@]}" || fail "an instance is not where it should be"
kill -INT "$launcher"
status=0
wait "$launcher" || status=$?
[ "$status" = 0 ] || fail "the launch ended with status $status after Ctrl-C"
complete /tmp/found-0.json
complete /tmp/found-1.json
