#!/usr/bin/env python3
"""What a row of run.py's results says.

usage: rows.py RESULTS...: leaves only the rows that are right.
"""

import json
import sys
from pathlib import Path

UNDECIDED = "peers disagree, too"  # begins the result of a device that differs from the recorded one


def fits(result):
    return result == "ok" or result.startswith(UNDECIDED)


def is_made(row):
    return "not made" not in row and bool(row["forms"])


def is_right(row):
    return is_made(row) and all(fits(result) for form in row["forms"].values() for result in form.values())


def main():
    for file in map(Path, sys.argv[1:]):
        rows = json.loads(file.read_text())
        file.write_text(json.dumps({key: row for key, row in rows.items() if is_right(row)}, indent=1))


if __name__ == "__main__":
    main()
