#!/usr/bin/env python3
"""Ctrl-C ends probe_counter.py with what was counted until then.

Usage: probe_interrupted.py EXAMPLE FOLDER, the folder of scene.py's video that is drawn first.
"""
import importlib.util
import pathlib
import re
import signal
import subprocess
import sys
import time

for module in ("gi", "cv2", "numpy"):
    if importlib.util.find_spec(module) is None:
        print(f"skipped: this Python has no {module}")
        sys.exit(77)

FRAMES = 90
SCENE = pathlib.Path(__file__).resolve().parent.parent.parent / "pipelines/demo/scene.py"

example, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
video = folder / "scene.mp4"
subprocess.run([sys.executable, "-B", SCENE, "--frames", str(FRAMES), "--output", video, "--ground-truth", folder / "scene.json"], check=True)
process = subprocess.Popen([sys.executable, "-B", example, video, "--realtime"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
first = process.stdout.readline()
if not first.startswith("counting "):
    sys.exit(f"it begins with '{first}'")
time.sleep(0.5)
process.send_signal(signal.SIGINT)
output = process.communicate(timeout=120)[0]
print(output)
frames = re.match(r"(\d+) frames\n", output)
if process.returncode != 0 or frames is None or int(frames[1]) >= FRAMES:
    sys.exit(f"it ended with {process.returncode}; fewer than {FRAMES} frames are wanted, and no error")
