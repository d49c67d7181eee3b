#!/usr/bin/env bash
# A Ray cluster on one machine: nodes r1 (with the head), r2 ..., on addresses of the loopback device, each in process, mount and UTS
# namespaces of its own, so that a node has its name and its end. Everything is in FOLDER. RAY: the program ray.
#   ray_cluster.sh start FOLDER NODES     77 with the reason where this machine doesn't allow it
#   ray_cluster.sh address FOLDER         for hetero-archive-ray --address
#   ray_cluster.sh kill_node FOLDER NODE  the node and all its processes, as when its power fails
#   ray_cluster.sh start_node FOLDER NODE
#   ray_cluster.sh end FOLDER
set -euo pipefail
order=${1:?start, address, kill_node, start_node or end}
folder=$(realpath -m "${2:?the folder of the cluster}")
shift 2
port=16379

refuse() {
  echo "$*"
  exit 77
}

start_node() {
  local name=$1 number=${1#r} until=$((SECONDS + 90))
  local place=(--address="127.0.0.1:$port")
  [ "$number" != 1 ] || place=(--head --port="$port" --include-dashboard=false --temp-dir="$folder/ray")
  # Ports of other programs of this machine stay free: nodes take theirs from ranges of their own.
  # shellcheck disable=SC2016 # expanded inside
  setsid unshare --mount --uts --pid --fork --kill-child --mount-proc bash -c '
    name=$1
    shift
    hostname "$name"
    "$@" &
    while :; do wait -n || sleep 1000; done
  ' node "$name" "${RAY:?the program ray}" start "${place[@]}" --node-ip-address="127.0.0.$number" --num-cpus=1 --num-gpus=0 \
    --object-store-memory=80000000 --disable-usage-stats --min-worker-port=$((20000 + 1000 * number)) \
    --max-worker-port=$((20999 + 1000 * number)) --block </dev/null >>"$folder/$name.out" 2>&1 &
  echo $! >"$folder/$name.pid"
  while ! grep -q 'Ray runtime started' "$folder/$name.out"; do
    if [ "$SECONDS" -ge "$until" ]; then
      cat "$folder/$name.out" >&2
      echo "ray_cluster.sh: $name has not begun within 90 s" >&2
      exit 1
    fi
    sleep 0.2
  done
}

end_node() {
  local pid
  pid=$(cat "$folder/$1.pid" 2>/dev/null) || return 0
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$folder/$1.pid" "$folder/$1.out"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

case $order in
  start)
    nodes=${1:?how many nodes}
    [ "$(id -u)" = 0 ] || refuse "Ray's nodes in namespaces need root"
    reason=$(unshare --mount --uts --pid --fork --mount-proc true 2>&1) ||
      refuse "this machine lets no namespaces be made (CAP_SYS_ADMIN is needed): $reason"
    mkdir -p "$folder"
    for ((number = 1; number <= nodes; number++)); do start_node "r$number"; done
    ;;
  address) echo "127.0.0.1:$port" ;;
  kill_node) end_node "${1:?a node}" ;;
  start_node) start_node "${1:?a node}" ;;
  end)
    for file in "$folder"/*.pid; do
      [ ! -e "$file" ] || end_node "$(basename "$file" .pid)"
    done
    ;;
  *)
    echo "ray_cluster.sh: unknown order '$order'" >&2
    exit 2
    ;;
esac
