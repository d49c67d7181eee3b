#!/usr/bin/env python3
"""Where the threads and pages of processes are. Usage: placement.py PID...

Each process has to lie on one NUMA node: all its threads may run on that node's processors alone, all its memory is bound to it, and 99 %
of its anonymous pages, hence what it allocated, are there, and of the packed weights that it maps. Pages of other files are told apart: those
of programs and libraries lie where they were read first.
"""
import collections
import glob
import os
import re
import sys

# "bind:0", "default", "prefer (many):0" behind the address.
POLICY = re.compile(r"[0-9a-f]+ (\S+(?: \(\w+\)\S*)?)")
CACHE = "/var/cache/hetero/"
NODES = "/sys/devices/system/node/node"


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def processors(text):
    """Of a list like "0-1,4"."""
    found = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def nodes():
    return {int(path[len(NODES):]): processors(read(f"{path}/cpulist")) for path in sorted(glob.glob(f"{NODES}[0-9]*"))}


def threads(pid):
    """Thread -> the processors it may run on."""
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            found[int(task)] = processors(re.search(r"^Cpus_allowed_list:(.*)$", read(f"/proc/{pid}/task/{task}/status"), re.MULTILINE)[1])
        except FileNotFoundError:
            pass  # It has ended since.
    return found


def pages(pid):
    """Kind of pages -> node -> KiB, and the policies that are in force with their numbers of mappings."""
    found, policies = collections.defaultdict(collections.Counter), collections.Counter()
    for line in read(f"/proc/{pid}/numa_maps").splitlines():
        fields = dict(word.partition("=")[::2] for word in line.split()[2:])
        kind = "anonymous" if "file" not in fields else "weights" if fields["file"].startswith(CACHE) else "file"
        unit = int(fields.get("kernelpagesize_kB", 4))
        policies[POLICY.match(line)[1]] += 1
        for name, value in fields.items():
            if re.fullmatch(r"N\d+", name):
                found[kind][int(name[1:])] += unit * int(value)
    return found, policies


def main():
    machine = nodes()
    used = []
    for pid in map(int, sys.argv[1:]):
        bound = threads(pid)
        home = [node for node, own in machine.items() if all(allowed and allowed <= own for allowed in bound.values())]
        if len(home) != 1:
            sys.exit(f"process {pid}: its {len(bound)} threads are not bound to one node: {sorted(map(sorted, bound.values()))}")
        node = home[0]
        used.append(node)
        kinds, policies = pages(pid)
        print(f"process {pid}: {len(bound)} threads, all on processors {sorted(machine[node])} of node {node}; policies of memory: {dict(policies)}")
        for kind, on in sorted(kinds.items()):
            total = sum(on.values())
            print(f"  {kind} pages: {total / 1024:.1f} MiB, {100 * on[node] / total:.2f} % on node {node}")
        if set(policies) != {f"bind:{node}"}:
            sys.exit(f"process {pid}: its memory is not bound to node {node}")
        for kind, least in (("anonymous", 4096), ("weights", 64)):
            on = kinds[kind]
            if on[node] < 0.99 * sum(on.values()) or sum(on.values()) < least:
                sys.exit(f"process {pid}: its {kind} pages (KiB) are {dict(on)}, and it runs on node {node}")
    if len(set(used)) != len(used):
        sys.exit(f"the processes lie on nodes {used}: each should have one of its own")


main()
