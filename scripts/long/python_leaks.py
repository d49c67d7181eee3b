#!/usr/bin/env python3
"""Findings of a sanitizer or valgrind that concern our code: python_leaks.py asan|valgrind LOG...

A lost block counts where our extension or library is in the stack of its allocation; what Python and other libraries keep until the process
ends does not. Every wrong access counts. Prints what it finds; exit status 1 then.
"""
import pathlib
import re
import sys

OURS = re.compile(r"_hetero\.cpython|_hetero\.abi|_gst\.cpython|libgsthetero|libhetinference|het::")


def blocks_of(kind, text):
    """Reports, each as one text."""
    if kind == "valgrind":
        lines = [re.sub(r"^==\d+== ?", "", line) for line in text.splitlines()]
        return re.split(r"\n\s*\n", "\n".join(lines))
    return re.split(r"\n\s*\n", text)


def concerns_us(kind, block):
    if kind == "asan":
        if re.search(r"(Direct|Indirect) leak of", block):
            return bool(OURS.search(block)) and "Direct leak" in block
        return bool(re.search(r"ERROR: AddressSanitizer: (?!detected memory leaks)|CHECK failed|runtime error:", block))
    if re.search(r"(definitely|possibly) lost in loss record", block):
        return bool(OURS.search(block)) and "definitely lost" in block
    return bool(re.search(r"^(Invalid (read|write|free)|Mismatched free|Jump to the invalid)", block, re.MULTILINE)) and bool(OURS.search(block))


def main():
    kind, logs = sys.argv[1], sys.argv[2:]
    found = []
    for log in logs:
        path = pathlib.Path(log)
        if path.exists():  # nothing was found, so nothing was written
            found += [block for block in blocks_of(kind, path.read_text(errors="replace")) if concerns_us(kind, block)]
    for block in found[:20]:
        print(block, end="\n\n")
    if found:
        sys.exit(f"{len(found)} findings by {kind}")
    print(f"{kind}: nothing of ours is lost or accessed wrongly")


if __name__ == "__main__":
    main()
