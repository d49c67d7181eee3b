#!/usr/bin/env bash
# Manual pages and the completion of bash, made from what the installed programs print for --help. Usage: manual.sh STAGE, the folder in
# which "meson install" has put usr/.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
stage=$1
pages=$stage/usr/share/man/man1
completions=$stage/usr/share/bash-completion/completions
library=$(find "$stage/usr/lib" -name 'libhetinference-1.0.so.0' -printf '%h\n' -quit)
export LD_LIBRARY_PATH=$library PATH=$stage/usr/bin:$PATH
mkdir -p "$pages" "$completions"

# page NAME DESCRIPTION COMMAND [SEE...]: NAME.1 from what COMMAND prints.
page() {
  local name=$1 description=$2 command=$3
  shift 3
  printf '[SEE ALSO]\n%s\n' "$(printf '.BR %s (1)\n' "$@")" |
    help2man --no-info --section 1 --name "$description" --manual 'gst-hetero' --source "$version" --version-string "$version" \
      --include /dev/stdin "$command" |
    sed -e "s/^\\.TH [A-Z-]* /.TH ${name^^} /" -e "s/^[a-z -]* \\\\- /$name \\\\- /" >"$pages/$name.1"
}

version=$(hetero --version)
subcommands=$(hetero --help | awk '/^Subcommands:/ { inside = 1; next } inside && NF { name = $1; $1 = ""; print name $0 }')
# shellcheck disable=SC2046 # one word a page
page hetero 'run, measure and inspect models on the devices of this machine' hetero \
  $(awk '{ print "hetero-" $1 }' <<<"$subcommands") hetero-launch hetero-archive hetero-density hetero-tune hetero-vpud gst-launch-1.0
while read -r name description; do
  page "hetero-$name" "${description,}" "hetero $name" hetero
done <<<"$subcommands"
page hetero-launch 'run pipelines in processes bound to NUMA nodes' hetero-launch hetero gst-launch-1.0
page hetero-archive 'process recorded video in shards, on any number of machines' hetero-archive hetero hetero-launch gst-launch-1.0
page hetero-archive-ray 'process the shards of an archive on a Ray cluster' hetero-archive-ray hetero-archive
page hetero-density 'find how many streams of a pipeline this machine carries' hetero-density hetero hetero-launch gst-launch-1.0
page hetero-tune 'find the settings that make a pipeline fastest' hetero-tune hetero hetero-launch gst-launch-1.0
page hetero-vpud 'a VPU in a process of its own' hetero-vpud hetero
/usr/bin/python3 "$here/completion.py" hetero >"$completions/hetero"
