#!/usr/bin/env python3
"""Writes docs/models_read.md from the results of objects.py.

usage: objects_table.py TARGET DESCRIPTION RESULTS...

DESCRIPTION is a line about the machine and the versions. Without TARGET and DESCRIPTION ("-"), the tables are printed.
"""

import collections
import json
import sys
import textwrap
from pathlib import Path

from table import bullet, title
from verdicts import UNDECIDED, VERDICTS, said, verdict


def counted(rows, key):
    found = collections.defaultdict(collections.Counter)
    for row in rows:
        found[key(row)][verdict(row)] += 1
    return sorted(found.items())


def counts_table(rows):
    text = "| task | exporter | " + " | ".join(VERDICTS) + " |\n" + "| --- " * (2 + len(VERDICTS)) + "|\n"
    for (task, exporter), numbers in counted(rows, lambda row: (row["task"], row["exporter"])):
        text += f"| {task} | {exporter} | " + " | ".join(str(numbers[v] or "-") for v in VERDICTS) + " |\n"
    for task, numbers in counted(rows, lambda row: row["task"]):
        text += f"| **{task}** | all: {100 * numbers['right'] / sum(numbers.values()):.0f} % right | " + " | ".join(str(numbers[v] or "-") for v in VERDICTS) + " |\n"
    return text


def main():
    target, description, *files = sys.argv[1:]
    rows = [row for file in files for row in json.loads(Path(file).read_text()).values()]
    made = [row for row in rows if verdict(row) in VERDICTS]
    if target == "-":
        print(counts_table(made))
        return
    text = "# What is found with models as exporters of today write them\n\n"
    text += textwrap.fill(f"Made by `./check.sh --long objects` ({description}). Every export has random weights and is read as it is, without a descriptor, "
                          "beside the files that its exporter writes with it. On three pictures of the size that it wants the same has to be found as by "
                          "the exporter's own library: objects with IoU of at least 0.99, scores within 0.001 (and 1 %), labels, points within half a pixel, "
                          "99 % of the pixels of masks and class maps, depths and embeddings within 0.001 of their range, texts. Thresholds lie where 5 to 200 objects pass.", 118) + "\n\n"
    text += counts_table(made)
    for kind in VERDICTS[1:]:
        misses = [row for row in made if verdict(row) == kind]
        text += f"\n## {kind.capitalize()}\n\n" + ("" if misses else "None.\n")
        for row in misses:
            text += bullet(f"{title(row)}: {said(row)}")
    scaled = [row for row in made if verdict(row) == "right" and row["scaled"]]
    text += "\n## Right, but not on a picture that has to be scaled\n\nLibraries scale in ways of their own, and random weights tell.\n\n"
    for row in scaled:
        text += bullet(f"{title(row)}: {row['scaled']}")
    undecided = [row for row in rows if verdict(row) == UNDECIDED]
    if undecided:
        text += "\n## Decided by rounding\n\nNot counted above: not even its own library finds the same again.\n\n"
        for row in undecided:
            text += bullet(f"{title(row)}: {said(row)}")
    absent = [row for row in rows if verdict(row) == "not made"]
    if absent:
        text += "\n## What was not made or read by its own library\n\nNot counted above.\n\n"
        for row in absent:
            text += bullet(f"{title(row)}: {said(row)}")
    Path(target).write_text(text)


if __name__ == "__main__":
    main()
