"""`hetero archive` on this machine, with times: for the scripts beside this one."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


class Archives:
    """Archives in a folder that goes with this; models are compiled into a cache of its own."""

    def __init__(self, build):
        self.program = [str(build / "tools/hetero"), "archive"]
        self.folder = tempfile.TemporaryDirectory(prefix="archive-")
        self.path = pathlib.Path(self.folder.name)
        self.environment = {**os.environ, "GST_PLUGIN_PATH": str(build / "gst"), "GST_HETERO_CACHE_DIR": str(self.path / "cache")}

    def call(self, *arguments):
        done = subprocess.run([*self.program, *map(str, arguments)], capture_output=True, text=True, env=self.environment)
        if done.returncode != 0:
            raise SystemExit(f"hetero archive {' '.join(map(str, arguments))} fails:\n{done.stderr}")
        return done.stdout

    def plan(self, name, videos, pipeline, *options):
        """A new archive, planned: its folder and seconds."""
        folder = self.path / name
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.monotonic()
        self.call("plan", *videos, "-o", folder, *options, "--", *pipeline)
        return folder, time.monotonic() - begin

    def run(self, folder, nodes=1, bound=False):
        """Seconds of so many `run --part` at once, each on one processor where they are bound."""
        begin = time.monotonic()
        processes = []
        for node in range(nodes):
            place = ["--cpus", str(sorted(os.sched_getaffinity(0))[node])] if bound else []
            words = [*self.program, "run", "-o", str(folder), "--part", f"{node + 1}/{nodes}", "--instances", "1", *place]
            processes.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment))
        for process in processes:
            _, said = process.communicate()
            if process.returncode != 0:
                raise SystemExit(f"hetero archive run fails:\n{said}")
        return time.monotonic() - begin

    def predict(self, folder, nodes, *options):
        return json.loads(self.call("predict", folder, "--json", "--nodes", ",".join(map(str, nodes)), *options))


def long_video(source, path, times):
    """The video `times` times one after the other, encoded anew with a key frame a second."""
    parts = " ".join(f"filesrc location={source} ! decodebin ! videoconvert ! c." for _ in range(times))
    line = f"concat name=c ! videorate ! x264enc key-int-max=25 bframes=0 speed-preset=veryfast ! h264parse ! matroskamux ! filesink location={path} {parts}"
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)


def detector_line(options, track=""):
    proc = f"model-proc={options.model_proc}" if options.model_proc else ""
    return (f"filesrc location={{video}} ! decodebin ! heterodetect model={options.model} {proc} model-instance-id=d ie-config={options.config} {track} "
            f"! heterometaconvert add-empty-results=true ! heterometapublish file-path={{output}} file-format=json-lines ! fakesink").split()
