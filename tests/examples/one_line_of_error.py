#!/usr/bin/env python3
"""An example ends with one clear line, and no traceback, for bad arguments.

Usage: one_line_of_error.py TEXT -- EXAMPLE ARGUMENT...: its line of standard error has TEXT in it.
"""
import re
import subprocess
import sys

text, command = sys.argv[1], sys.argv[3:]
done = subprocess.run([sys.executable, "-B", *command], capture_output=True, text=True, timeout=240)
print(done.stdout, done.stderr, sep="\n")
if missing := re.search(r"No module named '(cv2|gi|numpy|fastapi|uvicorn)'", done.stderr):
    print(f"skipped: this Python has no {missing[1]}")
    sys.exit(77)
if done.returncode != 1 or len(done.stderr.splitlines()) != 1 or text not in done.stderr:
    sys.exit(f"it ended with {done.returncode}; one line with '{text}' is wanted")
