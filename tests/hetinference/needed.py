#!/usr/bin/env python3
"""Compares the shared libraries that each program and library needs with the checked-in list.

Usage: needed.py LIST FILE... A line of the list has a file's name and what it needs, names without versions; '?' stands
before what only some builds need. Whoever adds a library here adds a package, and those that it needs, to every
installation.
"""
import pathlib
import re
import subprocess
import sys

# The compiler's own, and those of sanitizers.
RUNTIME = re.compile(r"ld-linux.*|lib(c|m|gcc_s|stdc\+\+|atomic|dl|pthread|rt|[a-z]+san)")


def without_version(name):
    """libfoo-1.0.so.3 -> libfoo-1.0; Python's has its version before the suffix: libpython3.11.so.1.0 -> libpython3"""
    return re.sub(r"^libpython3\.\d+$", "libpython3", name.split(".so")[0])


def needed(file):
    """Names of the libraries that the file's dynamic section lists."""
    text = subprocess.run(["objdump", "-p", file], check=True, capture_output=True, text=True).stdout
    return {without_version(name) for name in re.findall(r"^\s+NEEDED\s+(\S+)", text, re.MULTILINE)}


def read_list(path):
    """File name -> (libraries that it always needs, libraries that it may need)."""
    lists = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            file, names = line.split(":")
            words = names.split()
            lists[file] = ({w for w in words if not w.startswith("?")}, {w[1:] for w in words if w.startswith("?")})
    return lists


def main():
    wanted = read_list(pathlib.Path(sys.argv[1]))
    mistakes = []
    for file in map(pathlib.Path, sys.argv[2:]):
        name = without_version(file.name)
        always, sometimes = wanted[name]
        found = {library for library in needed(file) if not RUNTIME.fullmatch(library)}
        if not found:
            mistakes.append(f"{file}: objdump names no library that it needs")
        mistakes += [f"{name} needs {library}, which is not in the list" for library in sorted(found - always - sometimes)]
        mistakes += [f"{name} no longer needs {library}, which is in the list" for library in sorted(always - found)]
    print("\n".join(mistakes))
    return bool(mistakes)


if __name__ == "__main__":
    sys.exit(main())
