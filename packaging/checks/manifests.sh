#!/usr/bin/env bash
# Manifests and the compose file: Kubernetes' own schemas (kubernetes-validate), the compose specification's (check-jsonschema), `docker
# compose config` where it is there, and what no schema knows (manifests.py). The launch files in them are read by `hetero launch`.
# Usage: manifests.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/environment.sh
. "$root/scripts/environment.sh"
build=$(realpath "${1:?a build folder}")
require long
tools=$root/build-manifests
python_environment "$tools" kubernetes-validate==1.37.0 check-jsonschema==0.39.0
cd "$root/packaging"

# A kubelet's configuration is no object of the cluster.
objects=(kubernetes/{namespace,streams,statefulset,gpu}.yaml)
[ $((${#objects[@]} + 1)) = "$(find kubernetes -name '*.yaml' | wc -l)" ] || fail "packaging/kubernetes has a file that this check does not know"
# The oldest release that numbers the pods of a StatefulSet, and the newest.
for release in 1.28 1.37; do
  "$tools/bin/kubernetes-validate" --strict --quiet -k "$release" "${objects[@]}"
  echo "Kubernetes $release: ${#objects[@]} files are right"
done
"$tools/bin/check-jsonschema" --builtin-schema vendor.compose-spec compose/compose.yaml compose/devices.yaml
if docker compose version >/dev/null 2>&1; then
  docker compose -f compose/compose.yaml -f compose/devices.yaml config -q
  echo "docker compose config: right"
else
  echo "skipped: docker compose config, which is not installed"
fi
launch_files=$(mktemp -d "${TMPDIR:-/tmp}/gst-hetero-manifests.XXXXXX")
trap 'rm -rf "$launch_files"' EXIT
"$tools/bin/python" checks/manifests.py "$root/packaging" "$launch_files"

export LD_LIBRARY_PATH=$build GST_PLUGIN_PATH=$build/gst GST_REGISTRY=$launch_files/registry.bin
for file in "$launch_files"/*.yaml; do
  "$build/tools/hetero-launch" --dry-run "$file" >"$launch_files/plan" 2>&1 || {
    cat "$launch_files/plan" >&2
    fail "hetero launch refuses $(basename "$file")"
  }
  echo "hetero launch --dry-run $(basename "$file"): taken"
done
