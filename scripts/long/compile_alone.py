#!/usr/bin/env python3
"""Compiles sources of a build folder one by one, without writing anything: what each needs has to be included by itself.

Usage: compile_alone.py BUILD --list | BUILD FIRST COUNT. Lists the distinct sources of compile_commands.json, or compiles COUNT of them from
the FIRST on, a job a processor. Prints the compiler's errors; the exit status is 1 where there were any.
"""
import json
import multiprocessing.pool
import os
import pathlib
import shlex
import subprocess
import sys

WITH_ARGUMENT = {"-o", "-MQ", "-MF"}


def commands(build):
    seen = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if path.endswith((".cpp", ".c")):
            seen.setdefault(path, entry)
    return sorted(seen.items())


def compile_one(item):
    path, entry = item
    words = shlex.split(entry["command"])
    kept = [word for i, word in enumerate(words)
            if word not in WITH_ARGUMENT | {"-MD", "-c"} and (i == 0 or words[i - 1] not in WITH_ARGUMENT)]
    result = subprocess.run([*kept, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return "" if result.returncode == 0 else f"{path} does not compile by itself:\n{result.stderr}"


def main():
    build = pathlib.Path(sys.argv[1])
    items = commands(build)
    if sys.argv[2:] == ["--list"]:
        print("\n".join(path for path, _ in items))
        return 0
    first, count = map(int, sys.argv[2:])
    with multiprocessing.pool.ThreadPool(len(os.sched_getaffinity(0))) as pool:
        errors = [error for error in pool.map(compile_one, items[first:first + count]) if error]
    print("\n".join(errors), end="")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
