#!/usr/bin/env python3
"""Writes the tables of docs/performance.md from results/*.json: report.py, or report.py --check, which only says whether they differ.

What stands between the two marker comments is this program's; any Python runs it.
"""
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import architectures  # noqa: E402  (beside this file)
import results as result_files  # noqa: E402
import rows as row_list  # noqa: E402
import tables  # noqa: E402

DOCUMENT = HERE.parents[1] / "docs/performance.md"
BEGIN = "<!-- benchmarks/models/report.py writes what follows from benchmarks/models/results -->"
END = "<!-- up to here -->"
TITLES = {"former": "The former list", "tuning": "The tuning half", "test": "The test half"}


def wrapped(text, indent=""):
    return textwrap.wrap(text, 116, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def peak_text(peaks):
    if not peaks:
        return "The peak was not measured."
    found = [f"{kind} {peaks[kind]['one']:.0f} on one core and {peaks[kind]['all']:.0f} on all ({peaks[kind]['instruction']})" for kind in ("f32", "bf16", "int8") if kind in peaks]
    return "Peak from registers, 1e9 multiply-adds a second: " + "; ".join(found) + ("; tiles (AMX) were not measured, so only f32 has shares." if peaks["tiles"] else ".")


def list_section(name, content, peaks):
    """Text and tables of a list on a machine."""
    run, rows = content["run"], [row for row in content["rows"] if architectures.is_of(name, row["model"])]
    peers = ", ".join(f"{row_list.NAMES[engine]} {version}" for engine, version in run["peers"].items())
    lines = [f"### {TITLES[name]}", ""]
    lines += wrapped(f"{run['date']}, commit {run['commit']}, {run['rounds']} rounds of {run['seconds']} s, {len(rows)} rows; {run['system']}; {peers}.")
    lines += ["", *tables.markdown(tables.SUMMARY_HEAD, [tables.summary_cells(s) for s in row_list.summarise(rows, peaks)])]
    lines += ["", *tables.markdown(tables.WORST_HEAD, [tables.worst_cells(cell, peaks) for cell in row_list.worst(rows)])]
    failures = row_list.failure_lines(rows)
    lines += [""] if failures else []
    for failure in failures:
        lines += wrapped("- " + failure, "  ")
    lines += ["", *tables.markdown([*tables.HEAD, *row_list.LOADS], [[*tables.cells(row, peaks), *tables.load_cells(row)] for row in rows if "not_made" not in row])]
    return [*lines, ""]


def machine_section(file):
    found = result_files.read(file)
    machine = found["machine"]
    lines = [f"## {file.stem}: {', '.join(machine['instructions'])}", ""]
    lines += wrapped(f"{machine['processor']}, family {machine['family']}, model {machine['model']}, {machine['cores']} cores. {peak_text(found['peaks'])}")
    lines.append("")
    for name in row_list.LISTS:
        if name in found["lists"]:
            lines += list_section(name, found["lists"][name], found["peaks"])
    return lines


def written(folder=HERE / "results"):
    """What belongs between the markers."""
    lines = [""]
    for file in sorted(folder.glob("*.json")):
        lines += machine_section(file)
    return "\n".join(lines)


def parts(text):
    """(what stands before the part, the part, what stands behind it)."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{DOCUMENT} needs the lines\n{BEGIN}\n{END}\nonce each, in this order")
    before, rest = text.split(BEGIN + "\n")
    part, after = rest.split(END)
    return before, part, after


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    before, part, after = parts(DOCUMENT.read_text(encoding="utf-8"))
    wanted = written() + "\n"
    if sys.argv[1:] == ["--check"]:
        if part != wanted:
            print(f"{DOCUMENT.relative_to(HERE.parents[1])}: its tables are not those of benchmarks/models/results; run benchmarks/models/report.py")
        return int(part != wanted)
    DOCUMENT.write_text(before + BEGIN + "\n" + wanted + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
