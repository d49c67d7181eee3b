# Control groups of version 2: what systemd-run gives of time and processors, the plan heeds, and so do the processes.
# shellcheck shell=bash source=packaging/checks/guest/in_guest.sh
. /usr/local/guest/in_guest.sh
# shellcheck disable=SC2086 # one word a word of the pipeline
python3 "$guest/plans.py" $pictures ! $detector ! fakesink

# shellcheck disable=SC2086 # one word a word of the pipeline
systemd-run -q --unit limited -p CPUQuota=150% -p AllowedCPUs=0,2 -E GST_HETERO_CACHE_DIR="$GST_HETERO_CACHE_DIR" \
  hetero-launch --name limited -- $pictures ! $detector ! $publish file-path="/tmp/limited-{instance}.json" ! fakesink
within 300 "that it plays within its limits" is_well limited
within 180 "5 frames within the limits" has_frames limited 5
mapfile -t instances < <(instances_of limited)
[ ${#instances[@]} = 1 ] || fail "${#instances[@]} instances run with the time of 1.5 processors"
python3 "$guest/placement.py" "${instances[@]}" || fail "the instance is not where it should be"
grep '^Cpus_allowed_list' "/proc/${instances[0]}/status"
# What it may not have it does not try to take: how often the kernel had to stop it, of all periods.
group=/sys/fs/cgroup$(cut -d: -f3 "/proc/${instances[0]}/cgroup")
awk '{ value[$1] = $2 } END { printf "throttled in %d of %d periods\n", value["nr_throttled"], value["nr_periods"] }' "$group/cpu.stat"
systemctl stop limited
complete /tmp/limited-0.json
