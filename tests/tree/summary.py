#!/usr/bin/env python3
"""The summary of a test run: summary.py ROOT. Failed and skipped tests with what they say, also where a program crashed in colours."""
import pathlib
import subprocess
import sys
import tempfile

LOG = """<?xml version='1.0' encoding='utf8'?>
<testsuites><testsuite>
<testcase name="good" classname="A" result="run"/>
<testcase name="left" classname="A"><skipped message="no device here"/></testcase>
<testcase name="whole"><system-err>test_a (x.Y.test_a) ... ok
test_b (x.Y.test_b) ... skipped 'one processor only'
</system-err></testcase>
<testcase name="crashed"><failure/><system-err>\x1b[31mhow it ended\x1b[0m</system-err></testcase>
</testsuite></testsuites>
"""


def main():
    script = pathlib.Path(sys.argv[1]) / "scripts/test_summary.py"
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log.xml"
        log.write_text(LOG)
        done = subprocess.run([sys.executable, script, log], capture_output=True, text=True)
        assert done.returncode == 1, (done.returncode, done.stderr)
        for part in ("FAILED: crashed", "how it ended", "skipped (no device here): A.left", "skipped (one processor only): whole.test_b", "2 passed, 1 failed, 1 skipped"):
            assert part in done.stdout, f"'{part}' is not in:\n{done.stdout}"
        log.write_text("<testsuites/>")
        done = subprocess.run([sys.executable, script, log], capture_output=True, text=True)
        assert done.returncode == 1 and "0 passed, 0 failed" in done.stdout, "none ran"


if __name__ == "__main__":
    main()
