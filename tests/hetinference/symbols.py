#!/usr/bin/env python3
"""Compares the C symbols that the library exports with the checked-in list. Usage: symbols.py LIBRARY LIST."""
import pathlib
import subprocess
import sys

library, wanted = sys.argv[1:]
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
exported = {line.split()[-1].split("@")[0] for line in lines}
# Everything else is C++, for users of <inference/...>.
exported = {name for name in exported if not name.startswith("_Z")}
wanted = set(pathlib.Path(wanted).read_text().split())
for name in sorted(exported - wanted):
    print(f"{name} is exported and not in the list")
for name in sorted(wanted - exported):
    print(f"{name} is in the list and not exported: programs that use it would not start")
sys.exit(exported != wanted)
