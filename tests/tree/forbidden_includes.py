#!/usr/bin/env python3
"""Shows that the rule about includes sees what it forbids: for each folder with districts, one include that points up.

Usage: forbidden_includes.py ROOT. A tree of two files is made for each folder: one of the lowest district that has files of the real tree
includes one of the highest, and check_tree.py has to fail with both names; the other way round it has to pass.
"""
import pathlib
import subprocess
import sys
import tempfile

from districts import DISTRICTS


def one_header(root, folder, district):
    """Some header of a district, from the root; None where it has none."""
    headers = sorted((root / folder / district).glob("*.h")) if "." not in district else []
    return str(headers[0].relative_to(root)) if headers else None


def run_rule(name, target):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in ((target, ""), (name, f'#include "{target}"\n')):
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        check = pathlib.Path(__file__).with_name("check_tree.py")
        result = subprocess.run([sys.executable, str(check), "include_rule", folder], capture_output=True, text=True)
        return result.returncode, result.stdout


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    for folder, rungs in DISTRICTS.items():
        headers = [one_header(root, folder, district) for district in rungs if isinstance(district, str)]
        headers = [header for header in headers if header]
        high, low = headers[0], headers[-1]
        status, output = run_rule(low, high)
        if status != 1 or low not in output or high not in output:
            problems.append(f"{low} may include {high}: {output}")
        status, output = run_rule(high, low)
        if status != 0:
            problems.append(f"{high} may not include {low}: {output}")
        print(f"{folder}: {low} must not include {high}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
