"""Something done with every export of a list, each in a process and a folder of its own, with a row of a JSON file for each."""

import argparse
import fnmatch
import json
import multiprocessing
import os
import queue
import shutil
import time
import traceback
from pathlib import Path

from catalogue import EXPORTS

SECONDS = 600  # an export, or a verification


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "no message"


def row_of(export, folder, work):
    """What `work(export, folder, row)` fills the row with; "not made" says why it ended early."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    begin = {"exporter": export.exporter, "task": export.task, "name": export.name, "options": export.options}
    answers = multiprocessing.Queue()
    with open(folder / "log", "w") as log:
        process = multiprocessing.Process(target=child, args=(export, folder, work, log, begin, answers))
        process.start()
    row, end = None, time.monotonic() + 4 * SECONDS
    while row is None and time.monotonic() < end:
        try:
            row = answers.get(timeout=1)
        except queue.Empty:
            if not process.is_alive():
                break
    if row is None:
        process.kill()
        row = begin | {"not made": f"the exporter or a peer ended with {process.exitcode}"}
    process.join()
    return json.loads(json.dumps(row).replace(f"{folder}/", ""))


def child(export, folder, work, log, row, answers):
    """Exporters and peers crash, and keep memory."""
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    os.chdir(folder)
    try:
        work(export, folder, row)
    except BaseException as error:  # what exporters throw has no type of its own
        traceback.print_exc()
        row["not made"] = f"{type(error).__name__}: {last_line(str(error))}"
    answers.put(row)


def each_export(results_file, folder, only, minutes, work, told, keep):
    """Goes on where it stopped. `told(row)` is printed: the first word of a row, whose folder stays unless it is "right". Ends with 75 when
    the minutes are over before the list is."""
    multiprocessing.set_start_method("fork")
    until = time.monotonic() + 60 * minutes
    results = json.loads(results_file.read_text()) if results_file.exists() else {}
    for export in EXPORTS:
        if export.key in results or not fnmatch.fnmatch(export.key, only):
            continue
        if time.monotonic() > until:
            return 75
        own, start = (folder / export.key).resolve(), time.monotonic()
        row = row_of(export, own, work)
        row["seconds"] = round(time.monotonic() - start)
        results[export.key] = row
        aside = results_file.with_suffix(".part")
        aside.write_text(json.dumps(results, indent=1))
        aside.replace(results_file)
        verdict = told(row)
        print(f"{verdict} {export.key} ({row['seconds']} s)", flush=True)
        if verdict.split(":")[0] == "right" and not keep:
            shutil.rmtree(own)
    return 0


def arguments(usage, add=lambda parser: None):
    parser = argparse.ArgumentParser(usage=usage)
    parser.add_argument("hetero")
    parser.add_argument("folder", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("exporter")
    parser.add_argument("--only", default="*")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--keep", action="store_true")
    add(parser)
    return parser.parse_args()
