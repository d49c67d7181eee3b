#!/usr/bin/env python3
"""Which kernels ran in Oclgrind and what it found, by kernel file. Fails where fewer than nine files of ten ran, or something was found.

    kernel_files.py KERNELS_FOLDER RESULTS_FOLDER
"""
import collections
import re
import sys
from pathlib import Path

KERNEL = re.compile(r"__kernel\s+(?:__attribute__\(\(.*?\)\)\s+)?void\s+(\w+)", re.DOTALL)
SUFFIX = re.compile(r"_[0-9a-f]{16}$")
# Texts without a kernel of their own stand before others, which are counted.
GENERATED = {"elementwise": ("expressions", "typed_expressions")}


def main(folder, results):
    files = {path.relative_to(folder): KERNEL.findall(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.cl"))}
    launches, items = collections.Counter(), collections.Counter()
    for path in results.glob("oclgrind.*.kernels"):
        for line in path.read_text(encoding="utf-8").splitlines():
            name, count, _ = line.split()
            name = SUFFIX.sub("", name)
            launches[name] += 1
            items[name] += int(count)
    found = collections.Counter()
    for path in results.glob("oclgrind.*.findings"):
        for name in re.findall(r"Kernel: (\w+)", path.read_text(encoding="utf-8")):
            found[SUFFIX.sub("", name)] += 1
    known = {name for names in files.values() for name in names}
    print(f"{'kernel file':40} kernels  launches  work-items  findings")
    ran, all_files, findings = 0, 0, sum(count for name, count in found.items() if name not in known)
    for path, names in files.items():
        if not names:
            continue
        done = [name for name in names if launches[name]]
        all_files += 1
        ran += bool(done)
        wrong = sum(found[name] for name in names)
        findings += wrong
        missing = "" if len(done) == len(names) else "  without " + ", ".join(sorted(set(names) - set(done)))
        print(f"{str(path):40} {len(done):3}/{len(names):<3} {sum(launches[n] for n in names):9} {sum(items[n] for n in names):11} "
              f"{wrong:9}{missing}")
    print(f"generated loops (elementwise): {launches['elementwise']} launches, {items['elementwise']} work-items, {found['elementwise']} findings")
    print(f"{ran} of {all_files} kernel files ran; {findings} findings")
    sys.exit(ran < 0.9 * all_files or findings > 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
