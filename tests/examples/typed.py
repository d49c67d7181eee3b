#!/usr/bin/env python3
"""mypy finds no fault in the examples, with the types of the package.

Usage: typed.py PACKAGES FOLDER: the folder of the package hetero, and that of the examples.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile

if importlib.util.find_spec("mypy") is None:
    print("skipped: this Python has no mypy")
    sys.exit(77)
packages, folder = sys.argv[1], pathlib.Path(sys.argv[2])
with tempfile.TemporaryDirectory() as cache:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", cache, "--ignore-missing-imports", "--check-untyped-defs", "--disallow-untyped-defs",
         "--warn-unreachable", "--warn-redundant-casts", "--warn-unused-ignores", *sorted(path.name for path in folder.glob("*.py"))],
        cwd=folder, env={**os.environ, "MYPYPATH": packages}, capture_output=True, text=True, timeout=240)
print(done.stdout, done.stderr, sep="\n")
sys.exit(done.returncode)
