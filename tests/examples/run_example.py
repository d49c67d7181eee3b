#!/usr/bin/env python3
"""Runs an example and compares what it prints.

Usage: run_example.py PATTERN... -- COMMAND...: the command must succeed, and each pattern (a regular
expression) must match a line of what it prints, a line a pattern.
"""
import re
import subprocess
import sys

split = sys.argv.index("--")
patterns, command = sys.argv[1:split], sys.argv[split + 1:]
done = subprocess.run(command, capture_output=True, text=True, timeout=240)
print(done.stdout, done.stderr, sep="\n")
if missing := re.search(r"No module named '(gi|cv2|numpy)'", done.stderr):
    print(f"skipped: this Python has no {missing[1]}")
    sys.exit(77)
if done.returncode != 0:
    sys.exit(f"{command[0]} ended with {done.returncode}")
lines = done.stdout.splitlines()
for pattern in patterns:
    found = next((line for line in lines if re.search(pattern, line)), None)
    if found is None:
        sys.exit(f"no line (or no further one) is like '{pattern}'")
    lines.remove(found)
