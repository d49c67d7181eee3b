#!/usr/bin/env python3
"""Runs a command beside a VPU. Usage: with_vpu.py HETERO_VPUD -- COMMAND..."""
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

daemon, command = sys.argv[1], sys.argv[3:]
with tempfile.TemporaryDirectory() as folder:
    socket = Path(folder) / "a.sock"
    vpu = subprocess.Popen([daemon, "--socket", str(socket)])
    deadline = time.monotonic() + 60
    while not socket.exists():
        if vpu.poll() is not None or time.monotonic() > deadline:
            sys.exit("the VPU does not begin")
        time.sleep(0.02)
    try:
        sys.exit(subprocess.run(command, env=dict(os.environ, HETERO_VPU_FOLDER=folder)).returncode)
    finally:
        vpu.terminate()
        vpu.wait(60)
