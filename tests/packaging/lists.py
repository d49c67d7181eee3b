#!/usr/bin/env python3
"""Compares what is written down twice for the packages. Usage: lists.py ROOT.

- Build-Depends of packaging/debian/control with the group build of scripts/packages.txt.
- The table of docs/install.md with the groups build and demo.
- The symbols of packaging/debian with those of tests/hetinference/symbols.txt, which are compared with the library.
"""
import itertools
import pathlib
import re
import sys

# Debian's machines have a compiler and ninja comes with meson; help2man only makes the manual.
COMPILER = {"g++", "ninja-build"}
PACKAGING = {"debhelper-compat", "dh-sequence-installsysusers", "dh-sequence-python3", "help2man"}
# Only tests and examples read pictures with it.
EXAMPLES = {"libopencv-core-dev", "libopencv-imgproc-dev", "libopencv-imgcodecs-dev"}


def build_depends(control):
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.MULTILINE)[1]
    return {line.split()[0].rstrip(",") for line in field.splitlines() if line.strip()}


def group(packages, *names):
    return {line.split()[1] for line in packages.splitlines() if line.startswith(tuple(f"{name} " for name in names))}


def table_column(page, heading):
    """The second column of the table whose second column has this heading."""
    lines = page.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|") and line.split("|")[2].strip() == heading)
    rows = itertools.takewhile(lambda line: line.startswith("|"), lines[first + 2:])
    return {row.split("|")[2].strip() for row in rows}


def compare(what, ours, wanted):
    return [f"{what}: {name} is missing" for name in sorted(wanted - ours)] + [f"{what}: {name} is too many" for name in sorted(ours - wanted)]


def main():
    root = pathlib.Path(sys.argv[1])
    debian = root / "packaging/debian"
    control = (debian / "control").read_text()
    packages_txt = (root / "scripts/packages.txt").read_text()
    problems = compare("Build-Depends, beside scripts/packages.txt", build_depends(control) - PACKAGING,
                       group(packages_txt, "build") - COMPILER - EXAMPLES)
    problems += compare("docs/install.md, beside scripts/packages.txt", table_column((root / "docs/install.md").read_text(), "Debian 12 and 13"),
                        group(packages_txt, "build", "demo"))
    symbols = (debian / "libhetinference-1.0-0.symbols").read_text()
    problems += compare("libhetinference-1.0-0.symbols, beside tests/hetinference/symbols.txt", set(re.findall(r"^ (het_\w+)@", symbols, re.MULTILINE)),
                        set((root / "tests/hetinference/symbols.txt").read_text().split()))
    packages = re.findall(r"^Package: (\S+)$", control, re.MULTILINE)
    for name in packages:
        files = [debian / f"{name}.{kind}" for kind in ("install", "docs")]
        if not any(file.exists() for file in files):
            problems.append(f"{name} holds no files: neither {name}.install nor {name}.docs is there")
    for file in [*debian.glob("*.install"), *debian.glob("*.symbols")]:
        if file.stem not in packages:
            problems.append(f"{file.name} belongs to no package")
    print("\n".join(problems) or f"{len(packages)} packages")
    sys.exit(bool(problems))


main()
