"""What earlier runs of the same build with the same options have measured."""
import hashlib
import json
import pathlib
import sys
import time

import rows as row_list
from machine import describe

REQUIREMENTS = pathlib.Path(__file__).resolve().parents[1] / "requirements.txt"


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def library_of(build):
    return next(build.glob("libhetinference-1.0.so.0"), build / "tools/hetero")


def read_lines(file):
    """The JSON objects of a file that a run may have been stopped in the middle of; what it left of a line goes."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if text and not text.endswith("\n"):
        text = text[:text.rfind("\n") + 1]
        file.write_text(text, encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Progress:
    """Rows by list, model and type, in FOLDER/progress.jsonl. A row is measured as a whole: ours and the peers' take turns."""

    OPTIONS = ("rounds", "seconds", "modes", "crowd", "decoder", "cores")

    def __init__(self, arguments):
        self.until = time.monotonic() + 60 * arguments.minutes
        self.file = arguments.out / "progress.jsonl"
        self.library = library_of(arguments.build)
        self.others, self.unrest = arguments.others, arguments.unrest
        self.key = {"library": digest(self.library), "peers": digest(REQUIREMENTS), "machine": describe(arguments.cores), **{name: getattr(arguments, name) for name in self.OPTIONS}}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if arguments.anew:
            self.file.unlink(missing_ok=True)
        entries = read_lines(self.file)
        self.known = {}
        for e in entries:
            if e["key"] == self.key and "found" in e:
                self.known.setdefault((e["list"], e["model"], e["type"]), []).append(e["found"])

    def is_over(self):
        return time.monotonic() > self.until

    def check_library(self):
        """A build that is built anew meanwhile is another one."""
        if not self.library.exists() or digest(self.library) != self.key["library"]:
            sys.exit(f"{self.library} changed while it was measured; the last row is not kept. Measure a copy of the build: tools/hetero, the library "
                     "and benchmarks/cpu_peak/bench_cpu_peak in folders of these names")

    def quietest(self, cell):
        """Of the measurements of a row during which other programs took no more than they may now; None without one."""
        return min(self.undisturbed(cell), key=lambda one: row_list.unrest(one["row"]), default=None)

    def find(self, cell):
        """The quietest measurement; None where the row is to be measured, or once more."""
        found = self.quietest(cell)
        is_known = found and (len(self.undisturbed(cell)) > 1 or row_list.unrest(found["row"]) <= self.unrest)
        return found if is_known else None

    def undisturbed(self, cell):
        return [one for one in self.known.get((cell.list, cell.name, cell.type), []) if one["row"].get("others", 0) <= self.others]

    def keep(self, cell, found):
        self.known.setdefault((cell.list, cell.name, cell.type), []).append(found)
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps({"key": self.key, "list": cell.list, "model": cell.name, "type": cell.type, "found": found}) + "\n")
