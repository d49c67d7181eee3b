#!/usr/bin/env python3
"""Prints the skipped tests with their reasons, the failed ones with the end of what they said, and the counts as the last line.

Reads the JUnit files that `meson test` writes; GoogleTest cases count one each, a program of unittest
is one, of which what it skipped is told. Exit status 1 when a test failed or none ran.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """'failed', 'skipped' or 'passed', and the reason of a skip."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    skipped = case.find("skipped")
    if skipped is None and case.get("result") not in ("skipped", "suppressed"):
        return "passed", ""
    text = "" if skipped is None else (skipped.get("message") or skipped.text or "")
    if not text.strip():  # a program that exits with 77 prints "skipped: reason"
        output = case.findtext("system-out", default="").splitlines()
        text = "\n".join(line.removeprefix("skipped: ") for line in output if line.startswith("skipped: "))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # GoogleTest puts "file:line" before the message.
    reason = " ".join(line for line in lines if not line.startswith("Skipped") and ".cpp:" not in line)
    return "skipped", reason or "no reason given"


UNITTEST_SKIP = re.compile(r"""^(test_\w+) .*\.\.\. skipped (['"])(.*)\2$""", re.MULTILINE)


def skipped_within(case):
    """Pairs of a test and its reason that a program of unittest skipped."""
    return [(match[1], match[3]) for match in UNITTEST_SKIP.finditer(case.findtext("system-err", default=""))]


# A program that crashed has its colours in the log as they were, which no XML may have.
NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def cases(log):
    text = pathlib.Path(log).read_text(encoding="utf-8", errors="replace")
    return ElementTree.fromstring(NO_XML.sub("?", text).encode()).iter("testcase")


LAST_LINES = 12


def last_words(case):
    """The end of a failed case's message, and of what its program printed where the case is a whole program (one that crashed, say)."""
    texts = [element.get("message") or element.text or "" for tag in ("failure", "error") for element in case.iter(tag)]
    texts += [case.findtext(tag, default="") for tag in ("system-out", "system-err")]
    return [f"  {line}" for text in texts for line in text.strip().splitlines()[-LAST_LINES:]]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: test_summary.py TESTLOG.junit.xml...")
    counts = collections.Counter()
    skipped = collections.defaultdict(list)
    failed = []
    for case in (case for log in sys.argv[1:] for case in cases(log)):
        name = f"{case.get('classname', '')}.{case.get('name', '')}".lstrip(".")
        result, reason = outcome(case)
        counts[result] += 1
        if result == "skipped":
            skipped[reason].append(name)
            continue
        for test, why in skipped_within(case):
            skipped[why].append(f"{name}.{test}")
        if result == "failed":
            failed.append("\n".join([f"FAILED: {name}", *last_words(case)]))
    for reason, names in sorted(skipped.items()):
        print(f"skipped ({reason}): {', '.join(names)}")
    for text in failed:
        print(text)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
