#!/usr/bin/env python3
"""Compares the symbols that the library exports and their version nodes with the checked-in list. Usage: symbols.py LIBRARY LIST VERSION.

The C functions of the list have the node HETINFERENCE_1.0, C++ symbols that of VERSION, and nothing has another or none.
"""
import pathlib
import subprocess
import sys

C_NODE = "HETINFERENCE_1.0"


def exported(library):
    """(name, node) of each exported symbol; the node is "" where there is none."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    symbols = []
    for line in lines:
        kind, name = line.split()[-2:]
        if kind == "A":  # a node's own name
            continue
        name, _, node = name.partition("@")
        symbols.append((name, node.lstrip("@")))
    return symbols


def main():
    library, wanted, version = sys.argv[1:]
    cxx_node = f"HETINFERENCE_CXX_{version}"
    symbols = exported(library)
    mistakes = []
    for name, node in sorted(symbols):
        wanted_node = cxx_node if name.startswith("_Z") else C_NODE
        if node != wanted_node:
            mistakes.append(f"{name} has the version node '{node}' instead of '{wanted_node}' (hetinference/symbols.map.in)")
    c_names = {name for name, _ in symbols if not name.startswith("_Z")}
    wanted = set(pathlib.Path(wanted).read_text().split())
    mistakes += [f"{name} is exported and not in the list" for name in sorted(c_names - wanted)]
    mistakes += [f"{name} is in the list and not exported: programs that use it would not start" for name in sorted(wanted - c_names)]
    if len(c_names) == len(symbols):
        mistakes.append("no C++ symbol is exported: programs that use <inference/...> would not start")
    print("\n".join(mistakes), end="\n" if mistakes else "")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()
