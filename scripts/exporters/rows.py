#!/usr/bin/env python3
"""What a row of run.py's results says.

usage: rows.py right RESULTS...         leaves only the rows that are right
       rows.py collect TARGET RESULTS...  all rows in one file that is kept in the project, without what run.py alone needs
       rows.py split SOURCE FOLDER      the reverse: FOLDER/EXPORTER.json
"""

import collections
import json
import sys
from pathlib import Path

UNDECIDED = "peers disagree, too"  # begins the result of a device that differs from the recorded one
OWN = ("operations", "seconds")


def fits(result):
    return result == "ok" or result.startswith(UNDECIDED)


def is_made(row):
    return "not made" not in row and bool(row["forms"])


def is_right(row):
    return is_made(row) and all(fits(result) for form in row["forms"].values() for result in form.values())


def leave_right(files):
    for file in map(Path, files):
        rows = json.loads(file.read_text())
        file.write_text(json.dumps({key: row for key, row in rows.items() if is_right(row)}, indent=1))


def collect(target, files):
    rows = {key: {name: value for name, value in row.items() if name not in OWN}
            for file in files for key, row in json.loads(Path(file).read_text()).items()}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(rows.items()))
    Path(target).write_text("{\n" + lines + "\n}\n")


def split(source, folder):
    parts = collections.defaultdict(dict)
    for key, row in json.loads(Path(source).read_text()).items():
        parts[row["exporter"]][key] = row
    for exporter, rows in parts.items():
        (Path(folder) / f"{exporter}.json").write_text(json.dumps(rows, indent=1))


def main():
    match sys.argv[1:]:
        case ["right", *files]:
            leave_right(files)
        case ["collect", target, *files]:
            collect(target, files)
        case ["split", source, folder]:
            split(source, folder)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
