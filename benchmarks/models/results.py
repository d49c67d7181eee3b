"""Result files: the rows of a machine, written by compare.py --results FILE and read by report.py. One row a line."""
import json

import architectures
import rows as row_list
from machine import highest


def read(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"machine": {}, "peaks": None, "lists": {}}


def order(row):
    return row["model"], row_list.TYPES.index(row["type"])


def merge(results, machine, peaks, list_name, run, new):
    """Puts the rows of a list into results. Rows of the same build, peers and options stay beside new ones; those of others and of models that left the half go. What happened, to be told."""
    told = ""
    if results["machine"] != machine:
        told = "the file was of another machine, whose rows are gone" if results["lists"] else ""
        results.update(machine=machine, peaks=None, lists={})
    results["peaks"] = highest(results["peaks"], peaks)
    before = results["lists"].get(list_name)
    kept = {}
    if before:
        same = all((before["run"].get(key) or 0) == (run.get(key) or 0) for key in ("library", "rounds", "seconds", "crowd", "decoder", "peers"))
        if same:
            kept = {(row["model"], row["type"]): row for row in before["rows"] if architectures.is_of(list_name, row["model"])}
        else:
            told = f"rows of the {list_name} list that were of another build, other peers or other options are gone"
    kept.update({(row["model"], row["type"]): row for row in new})
    results["lists"][list_name] = {"run": run, "rows": sorted(kept.values(), key=order)}
    return told


def write(file, results):
    """Small and easy to compare: a list is an object whose rows take a line each."""
    parts = []
    for name in sorted(results["lists"], key=row_list.LISTS.index):
        content = results["lists"][name]
        lines = ",\n".join(json.dumps(row) for row in content["rows"])
        parts.append(f'{json.dumps(name)}: {{"run": {json.dumps(content["run"])}, "rows": [\n{lines}\n]}}')
    file.parent.mkdir(parents=True, exist_ok=True)
    text = f'{{"machine": {json.dumps(results["machine"])},\n"peaks": {json.dumps(results["peaks"])},\n"lists": {{\n' + ",\n".join(parts) + "\n}}\n"
    assert json.loads(text) == results
    file.write_text(text, encoding="utf-8")
