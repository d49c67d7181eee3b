#!/usr/bin/env python3
"""Runs the fuzz targets, built without libFuzzer, on the corpus that make_corpus.py writes.

Usage: replay.py ROOT PROGRAM... Each program is called replay_<target>. A program that crashes is run no further; the last
line of its output says where it was.
"""
import pathlib
import subprocess
import sys
import tempfile


def main():
    here = pathlib.Path(__file__).resolve().parent
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(here / "make_corpus.py"), sys.argv[1], folder], check=True)
        for program in map(pathlib.Path, sys.argv[2:]):
            target = program.name.removeprefix("replay_")
            result = subprocess.run([str(program), f"{folder}/{target}"], capture_output=True, text=True, errors="replace")
            print(f"{target}: {result.stdout.strip()}" if result.returncode == 0 else f"{target}: exit status {result.returncode}\n{result.stdout}{result.stderr[-4000:]}")
            if result.returncode != 0:
                failed.append(target)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
