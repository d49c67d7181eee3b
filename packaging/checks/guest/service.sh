# hetero-launch@test under systemd, as confined as the unit says: it plays, its instances lie on their nodes, drop-ins are heeded, and it
# shellcheck shell=bash source=packaging/checks/guest/in_guest.sh
# stops with complete files. What systemd says of its exposure.
. /usr/local/guest/in_guest.sh
systemd-sysusers
mkdir -p /etc/hetero /srv
cp -r "$guest/models" /srv/models
cp "$guest/service.yaml" /etc/hetero/test.yaml
unit=hetero-launch@test.service
dropins=/etc/systemd/system/$unit.d
systemd-analyze verify --man=no "$unit" || fail "systemd-analyze verify is not content"

exposure=$(systemd-analyze security --no-pager "$unit" | tail -n 1)
echo "systemd-analyze security $unit:${exposure#*:}"
awk '{ exit !($(NF - 2) < 3) }' <<<"$exposure" || fail "its exposure is 3 or more"

run_until_frames() {
  systemctl start "$unit" || fail "$unit did not start: $(systemctl status --no-pager "$unit")"
  [ "$(systemctl is-active "$unit")" = active ] || fail "$unit is not active"
  within 180 "$1 frames of each instance" has_frames test "$1"
}

# run_until_frames comes back when the launcher has said READY=1.
run_until_frames 5
hetero-launch --status test
systemctl status --no-pager "$unit" | grep -E 'Active:|Status:|Tasks:|Memory:'
mapfile -t instances < <(instances_of test)
[ ${#instances[@]} = 2 ] || fail "${#instances[@]} instances run, and there are 2 nodes"
python3 "$guest/placement.py" "${instances[@]}" || fail "an instance of the service is not where it should be"
ps -o user=,group=,supgrp= -p "${instances[0]}"
[ "$(ps -o user= -p "${instances[0]}")" = hetero ] || fail "the service does not run as hetero"
grep -E '^(NoNewPrivs:.*1|Seccomp:.*2|CapBnd:.*0000000000000000)$' "/proc/${instances[0]}/status" | grep -c . | grep -qx 3 ||
  fail "an instance is not confined: $(grep -E '^(NoNewPrivs|Seccomp|CapBnd)' "/proc/${instances[0]}/status")"
systemctl stop "$unit"
[ "$(systemctl show -P Result "$unit")" = success ] || fail "stopping it failed: $(systemctl show -P Result "$unit")"
complete /var/lib/hetero/ball.json
complete /var/lib/hetero/smpte.json

# Drop-ins, as they are shipped.
mkdir -p "$dropins"
cp "$guest/drop-ins/one_node.conf" "$dropins/"
systemctl daemon-reload
run_until_frames 2
mapfile -t instances < <(instances_of test)
[ ${#instances[@]} = 1 ] || fail "one_node.conf: ${#instances[@]} instances run"
python3 "$guest/placement.py" "${instances[@]}" | tee /tmp/placement || fail "one_node.conf: the instance is not where it should be"
grep -q 'of node 0;' /tmp/placement || fail "one_node.conf: the instance is not on node 0"
systemctl stop "$unit"
rm "$dropins/one_node.conf"
cp "$guest/drop-ins/processors.conf" "$guest/drop-ins/quota.conf" "$guest/drop-ins/folders.conf" "$dropins/"
mkdir -p /srv/results
chown hetero: /srv/results
systemctl daemon-reload
run_until_frames 2
systemctl show -P CPUQuotaPerSecUSec -P AllowedCPUs -P MemoryMax "$unit" | paste -sd' '
for pid in $(instances_of test); do
  allowed=$(awk '/^Cpus_allowed_list:/ { print $2 }' "/proc/$pid/status")
  case $allowed in 0 | 2 | 0,2) echo "processors.conf: instance on processor $allowed" ;; *) fail "processors.conf: instance on processors $allowed" ;; esac
done
systemctl stop "$unit"
[ "$(systemctl show -P Result "$unit")" = success ] || fail "stopping it failed: $(systemctl show -P Result "$unit")"

# A file that is none is refused once, not tried again and again.
echo 'pipeline: [' >/etc/hetero/wrong.yaml
! systemctl start hetero-launch@wrong.service 2>/dev/null || fail "a service with a broken file runs"
sleep 8
[ "$(systemctl show -P NRestarts hetero-launch@wrong.service)" = 0 ] || fail "a service with a broken file was started again"
journalctl --no-pager -o cat -u hetero-launch@wrong.service | grep -i 'wrong.yaml' || fail "the journal does not say what is wrong with the file"
