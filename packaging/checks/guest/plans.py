#!/usr/bin/env python3
"""Plans of `hetero-launch --dry-run --json` in control groups of systemd-run. Usage: plans.py WORD... (the pipeline)"""
import json
import subprocess
import sys


def dry_run(limits, *options):
    """Status, plan or None, and what was said."""
    group = [word for limit in limits for word in ("-p", limit)]
    command = ["systemd-run", "--wait", "--pipe", "-q", *group, "hetero-launch", "--dry-run", "--json", *options, "--", *sys.argv[1:]]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, json.loads(result.stdout) if result.returncode == 0 else None, result.stderr.strip()


def expect(limits, options, wanted, max_threads):
    """`wanted`: node, processors and threads of inference of each instance."""
    what = " ".join([*limits, *options]) or "no limit"
    status, plan, said = dry_run(limits, *options)
    if status != 0:
        sys.exit(f"FAILED: {what}: status {status}: {said}")
    found = [(instance["numa_nodes"], instance["processors"], instance["inference_threads"]) for instance in plan["instances"]]
    print(f"{what}: (nodes, processors, threads) {found}, {plan['max_threads']} threads at a time; {'; '.join(plan['notes'])}")
    if found != wanted or plan["max_threads"] != max_threads:
        sys.exit(f"FAILED: expected were {wanted} and {max_threads} threads at a time")


def refuse(limits, options, word):
    status, _, said = dry_run(limits, *options)
    print(f"{' '.join([*limits, *options])}: status {status}: {said}")
    if status != 2 or word not in said:
        sys.exit(f"FAILED: expected was status 2 and a word about '{word}'")


def main():
    expect([], [], [([0], [0, 1], 2), ([1], [2, 3], 2)], 4)
    expect(["AllowedCPUs=0,2"], [], [([0], [0], 1), ([1], [2], 1)], 2)
    expect(["AllowedCPUs=2,3"], [], [([1], [2, 3], 2)], 2)
    # One and a half processors: a second thread at a time would be throttled.
    expect(["CPUQuota=150%"], [], [([0], [0, 1], 1)], 1)
    expect(["CPUQuota=150%", "AllowedCPUs=0,2"], [], [([0], [0], 1)], 1)
    expect(["CPUQuota=300%"], [], [([0], [0, 1], 2), ([1], [2, 3], 1)], 3)
    expect(["CPUAffinity=1 3"], [], [([0], [1], 1), ([1], [3], 1)], 2)
    expect(["AllowedCPUs=0-2"], ["--instances", "1"], [([0, 1], [0, 1, 2], 3)], 3)
    refuse(["CPUQuota=150%"], ["--instances", "2"], "quota")
    refuse(["AllowedCPUs=0,2"], ["--instances", "3"], "processors")
    refuse(["AllowedCPUs=0,2"], ["--cpus", "0-1"], "1")


main()
