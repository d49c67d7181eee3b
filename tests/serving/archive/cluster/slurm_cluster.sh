#!/usr/bin/env bash
# A Slurm cluster on one machine: munged, slurmctld and nodes n1, n2 ..., each slurmd in network, mount, UTS and process namespaces of its
# own, so that a node has its name, its address and its end. Everything is in FOLDER; /etc/slurm is covered inside the namespaces only.
#   slurm_cluster.sh start FOLDER NODES     77 with the reason where this machine doesn't allow it
#   slurm_cluster.sh run FOLDER COMMAND...  a command beside the controller, as on a login node
#   slurm_cluster.sh kill_node FOLDER NODE  the node and all its processes, as when its power fails
#   slurm_cluster.sh start_node FOLDER NODE
#   slurm_cluster.sh restart_controller FOLDER
#   slurm_cluster.sh end FOLDER
set -euo pipefail
order=${1:?start, run, kill_node, start_node, restart_controller or end}
folder=$(realpath -m "${2:?the folder of the cluster}")
shift 2
network=10.217.0

# A process in namespaces of its own that lives until it is killed; orphans are its children. Its number is in run/NAME.pid.
begin_namespaces() {
  local name=$1
  shift
  # shellcheck disable=SC2016 # expanded inside
  setsid unshare --net --mount --uts --pid --fork --kill-child --mount-proc bash -c '
    hostname "$1"
    mount --bind "$2/etc" /etc/slurm
    ip link set lo up
    touch "$2/run/$1.ready"
    while :; do sleep 1000 & wait $!; done
  ' namespaces "$name" "$folder" </dev/null >>"$folder/log/$name.namespaces" 2>&1 &
  local outside=$! tries=0
  while [ ! -e "$folder/run/$name.ready" ]; do
    sleep 0.05
    if [ $((tries += 1)) -ge 200 ] || ! kill -0 "$outside" 2>/dev/null; then
      cat "$folder/log/$name.namespaces" >&2
      echo "slurm_cluster.sh: the namespaces of $name did not begin" >&2
      return 1
    fi
  done
  rm "$folder/run/$name.ready"
  tr -d ' ' <"/proc/$outside/task/$outside/children" >"$folder/run/$name.pid"
}

inside() {
  local pid
  pid=$(cat "$folder/run/$1.pid")
  shift
  nsenter --target "$pid" --net --mount --uts --pid --wdns="$PWD" -- "$@"
}

network_of() {
  local pid
  pid=$(cat "$folder/run/$1.pid")
  shift
  nsenter --target "$pid" --net -- "$@"
}

end_namespaces() {
  local pid
  pid=$(cat "$folder/run/$1.pid" 2>/dev/null) || return 0
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$folder/run/$1.pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

start_controller() {
  inside controller setsid slurmctld -D >>"$folder/log/slurmctld.out" 2>&1 </dev/null &
}

start_node() {
  local name=$1
  begin_namespaces "$name"
  # In the network namespace alone, where process numbers are those of outside.
  network_of controller ip link delete "$name" 2>/dev/null || true
  network_of controller ip link add "$name" type veth peer name eth0 netns "$(cat "$folder/run/$name.pid")"
  inside controller ip link set "$name" master nodes up
  inside "$name" ip address add "$network.$((10 + ${name#n}))/24" dev eth0
  inside "$name" ip link set eth0 up
  inside "$name" setsid slurmd -D -N "$name" >>"$folder/log/$name.out" 2>&1 </dev/null &
}

refuse() {
  echo "$*"
  exit 77
}

write_configuration() {
  local nodes=$1 number cores memory
  cores=$(nproc)
  memory=$(awk '/^MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
  mkdir -p "$folder"/{etc,state,log,run}
  (umask 077 && [ -e "$folder/munge.key" ] || head -c 128 /dev/urandom >"$folder/munge.key")
  # Without cgroups processes are found by their parents. A requeued job waits until its credential is old: seconds, not minutes.
  cat >"$folder/etc/slurm.conf" <<CONF
ClusterName=archive
SlurmctldHost=controller($network.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket,cred_expire=5
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/state/%n
SlurmctldPidFile=$folder/run/slurmctld.number
SlurmdPidFile=$folder/run/slurmd-%n.number
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
JobCompType=jobcomp/none
MpiDefault=none
SlurmctldTimeout=10
SlurmdTimeout=10
InactiveLimit=0
KillWait=5
MinJobAge=3600
ReturnToService=2
SchedulerParameters=sched_interval=5,batch_sched_delay=1,bf_interval=5
CONF
  for ((number = 1; number <= nodes; number++)); do
    mkdir -p "$folder/state/n$number"
    echo "NodeName=n$number NodeAddr=$network.$((10 + number)) CPUs=$cores RealMemory=$memory State=UNKNOWN"
  done >>"$folder/etc/slurm.conf"
  echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$folder/etc/slurm.conf"
}

case $order in
  start)
    nodes=${1:?how many nodes}
    [ "$(id -u)" = 0 ] || refuse "a Slurm cluster in namespaces needs root"
    for command in slurmctld slurmd sbatch munged ip nsenter; do
      command -v "$command" >/dev/null || refuse "$command is not installed"
    done
    reason=$(unshare --net --mount --uts --pid --fork --mount-proc ip link add nodes type bridge 2>&1) ||
      refuse "this machine lets no namespaces with a bridge be made (CAP_SYS_ADMIN and CAP_NET_ADMIN are needed): $reason"
    write_configuration "$nodes"
    mkdir -p /etc/slurm
    munged --force --key-file "$folder/munge.key" --socket "$folder/run/munge.socket" --pid-file "$folder/run/munged.pid" \
      --log-file "$folder/log/munged.log" --seed-file "$folder/run/munge.seed" 2>>"$folder/log/munged.out"
    begin_namespaces controller
    inside controller ip link add nodes type bridge
    inside controller ip address add "$network.1/24" dev nodes
    inside controller ip link set nodes up
    start_controller
    for ((number = 1; number <= nodes; number++)); do start_node "n$number"; done
    until=$((SECONDS + 60))
    while [ "$(inside controller sinfo -h -N -o %T 2>/dev/null | grep -c idle)" -lt "$nodes" ]; do
      [ "$SECONDS" -lt "$until" ] || {
        inside controller sinfo -N >&2 || true
        tail -n 20 "$folder"/log/*.out "$folder"/log/*.log >&2
        echo "slurm_cluster.sh: after a minute not all $nodes nodes are idle" >&2
        exit 1
      }
      sleep 0.5
    done
    ;;
  run) inside controller "$@" ;;
  kill_node) end_namespaces "${1:?a node}" ;;
  start_node) start_node "${1:?a node}" ;;
  restart_controller)
    kill -KILL "$(pgrep -x slurmctld --ns "$(cat "$folder/run/controller.pid")" --nslist pid)" || true
    sleep 1
    start_controller
    ;;
  end)
    for file in "$folder"/run/*.pid; do
      case $file in
        */munged.pid) kill "$(cat "$file")" 2>/dev/null || true ;;
        *.pid) end_namespaces "$(basename "$file" .pid)" ;;
      esac
    done
    ;;
  *)
    echo "slurm_cluster.sh: unknown order '$order'" >&2
    exit 2
    ;;
esac
