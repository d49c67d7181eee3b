#!/usr/bin/env python3
"""Compares the C interface with its checked-in dump: what programs that were built earlier rely on.

Usage: c_abi.py compare CPU_FAMILY LIBRARY   or   c_abi.py refresh

The types come from the headers, which a C compiler turns into a library of empty functions; C++ types of the real library are not in the way so, and
it needs no debugging information. That the real library has the same functions is checked by their symbols: a definition whose types differ from the
header's would be a C++ function with another symbol. Compatible are functions that were added and members that were added behind the end of a struct,
which `struct_size` tells.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HEADER = ROOT / "hetinference/c.h"
DUMP = HERE / "hetinference-1.0.x86_64.abi"
CPU_FAMILY = "x86_64"
REFRESH = "tests/hetinference/abi/c_abi.py refresh"
# Users' libraries have a function of such a type; what it hands out is an interface as well.
USERS_FUNCTIONS = {"operator": "HetCustomOperatorsFunction", "decoder": "HetCustomDecoderFunction", "device": "HetCustomDeviceFunction"}


def run(*command, allowed=(0,)):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode not in allowed:
        sys.exit(f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def header_library(folder, header):
    """A library that has each function of this text of c.h, and a variable of each type of users' functions."""
    text, count = re.subn(r"^(HET_C_API [^;{}]*\));", r"\1 { __builtin_trap(); }", header, flags=re.MULTILINE)
    declared = header.count("HET_C_API") - 1  # the macro itself
    assert count == declared, f"c.h declares {declared} functions, of which {count} were recognised"
    for kind, function in USERS_FUNCTIONS.items():
        text += f'#include "inference/custom_{kind}.h"\nHET_C_API {function} users_{kind}_function;\n'
    source = folder / "interface.c"
    source.write_text(text)
    library = folder / "interface.so"
    run("cc", "-std=c11", "-g", "-O0", "-fvisibility=hidden", "-shared", "-fPIC", f"-I{ROOT}", source, "-o", library)
    return library


def dumped_functions():
    symbols = xml.etree.ElementTree.parse(DUMP).getroot().find("elf-function-symbols")
    return {symbol.get("name") for symbol in symbols}


def exported_functions(library):
    lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()[-2] == "T"}


# Lines of abidiff's report that do not tell of any harm.
STRUCT = re.compile(r"'struct \w+( at .*)?' changed:$")
GROWN = re.compile(r"type size changed from (\d+) to (\d+) \(in bits\)$")
INSERTED = re.compile(r"'.*', at offset (\d+) \(in bits\)")
OTHERS = re.compile("|".join((
    r"Leaf changes summary: ",
    r"Changed leaf types summary: ",
    r"Removed/Changed/Added (functions|variables) summary: 0 Removed, 0 Changed",
    r"\d+ Added functions?:$",
    r"\[A\] 'function ",
    r"\d+ data member insertions?:$",
)))


def is_compatible(report):
    """Whether a report of abidiff --leaf-changes-only only tells of functions that were added and of structs that grew at their end."""
    old_size = None
    for line in filter(None, map(str.strip, report.splitlines())):
        if STRUCT.match(line):
            old_size = None
        elif (grown := GROWN.match(line)) and int(grown[2]) > int(grown[1]):
            old_size = int(grown[1])
        elif (inserted := INSERTED.match(line)) and old_size is not None and int(inserted[1]) >= old_size:
            pass
        elif not OTHERS.match(line):
            return False
    return True


def difference(folder, header):
    """abidiff's report on a text of c.h, "" where it is as in the dump."""
    # 4: something differs, 8: so that programs break.
    result = run("abidiff", "--leaf-changes-only", "--harmless", DUMP, header_library(folder, header), allowed=(0, 4, 12))
    return result.stdout if result.returncode != 0 else ""


def compare(library):
    missing = sorted(dumped_functions() - exported_functions(library))
    for name in missing:
        print(f"{name} is in the dump of the C interface and the library does not export it: programs that use it would not start")
    with tempfile.TemporaryDirectory() as folder:
        report = difference(pathlib.Path(folder), HEADER.read_text())
    print(report, end="")
    if missing or not is_compatible(report):
        sys.exit("Programs that were built with an earlier c.h would break; docs/decisions/0012-versions.md says when that is allowed.")
    if report:
        print(f"Compatible additions: write them into the dump with {REFRESH}")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_where_it_cannot_run(cpu_family):
    if cpu_family != CPU_FAMILY:
        skip(f"the dump is of {CPU_FAMILY}, this build is for {cpu_family}")
    for tool in ("abidiff", "cc", "nm"):
        if shutil.which(tool) is None:
            skip(f"{tool} is not installed")


def main():
    if sys.argv[1:] == ["refresh"]:
        with tempfile.TemporaryDirectory() as folder:
            run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash", "--out-file", DUMP,
                header_library(pathlib.Path(folder), HEADER.read_text()))
        return
    if len(sys.argv) != 4 or sys.argv[1] != "compare":
        sys.exit(__doc__)
    skip_where_it_cannot_run(sys.argv[2])
    compare(sys.argv[3])


if __name__ == "__main__":
    main()
