#!/usr/bin/env python3
"""Compares the loops that are compiled for this machine alone with those for every instruction set: dispatch.py ALL NATIVE, two builds of
print_results. Integers and types have to be equal, floats within 1e-5 of 1 + their value, since one may round a product and a sum at once."""
import math
import re
import subprocess
import sys


def instruction_sets(program):
    symbols = subprocess.run(["nm", "-C", program], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"het::cpu::(N_[A-Z0-9_]+)::", symbols))


def lines(program):
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def is_near(a, b):
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    if "." not in a + b and "e" not in a + b and "nan" not in a + b:
        return False  # integers
    return x == y or math.isnan(x) and math.isnan(y) or abs(x - y) <= 1e-5 * (1 + abs(y))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sets = [instruction_sets(program) for program in sys.argv[1:]]
    if len(sets[0]) < 2 or len(sets[1]) != 1:
        sys.exit(f"the programs have loops for {sorted(sets[0])} and {sorted(sets[1])}; the first should have several and the second one")
    first, second = (lines(program) for program in sys.argv[1:])
    wrong = 0 if len(first) == len(second) else 1
    for a, b in zip(first, second):
        if a != b and not (len(a.split()) == len(b.split()) and all(map(is_near, a.split(), b.split()))):
            wrong += 1
            print(f"{a[:300]}\n  with loops for this machine alone: {b[:300]}")
    print(f"{first[0]} of {sorted(sets[0])} beside {sorted(sets[1])}: {len(first)} lines, {wrong} differ")
    return 1 if wrong or len(first) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
