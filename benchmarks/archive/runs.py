"""`hetero archive` on this machine, with times: for the scripts beside this one."""
import argparse
import contextlib
import json
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading
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

    def start(self, folder, part, processor=None):
        place = [] if processor is None else ["--cpus", str(processor)]
        words = [*self.program, "run", "-o", str(folder), "--part", part, "--instances", "1", *place]
        return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.environment)

    def run(self, folder, nodes=1, bound=False):
        """Seconds of so many `run --part` at once, each on one processor where they are bound; and their processor time."""
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        processors = sorted(os.sched_getaffinity(0)) if bound else [None] * nodes
        for process in [self.start(folder, f"{node + 1}/{nodes}", processors[node]) for node in range(nodes)]:
            _, said = process.communicate()
            if process.returncode != 0:
                raise SystemExit(f"hetero archive run fails:\n{said}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic() - begin, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @contextlib.contextmanager
    def neighbours(self, folder, first):
        """The processors from number `first` on do this archive meanwhile, over and over."""
        over = threading.Event()

        def work(processor):
            own = folder.with_name(f"neighbour_{processor}")
            while not over.is_set():
                shutil.rmtree(own, ignore_errors=True)
                shutil.copytree(folder, own)
                process = self.start(own, "1/1", processor)
                while process.poll() is None and not over.is_set():
                    time.sleep(0.05)
                process.terminate()
                process.communicate()

        threads = [threading.Thread(target=work, args=(processor,)) for processor in sorted(os.sched_getaffinity(0))[first:]]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def predict(self, folder, nodes, *options):
        return json.loads(self.call("predict", folder, "--json", "--nodes", ",".join(map(str, nodes)), *options))


def arguments(description, shard, config):
    """A parser with what the scripts have in common."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("video", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--model-proc")
    parser.add_argument("--shard", default=shard)
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--config", default=config)
    return parser


def long_video(source, path, times):
    """The video `times` times one after the other, encoded anew with a key frame a second."""
    parts = " ".join(f"filesrc location={source} ! decodebin ! videoconvert ! c." for _ in range(times))
    line = f"concat name=c ! videorate ! x264enc key-int-max=25 bframes=0 speed-preset=veryfast ! h264parse ! matroskamux ! filesink location={path} {parts}"
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)


def detector_line(options, track=""):
    proc = f"model-proc={options.model_proc}" if options.model_proc else ""
    return (f"filesrc location={{video}} ! decodebin ! heterodetect model={options.model} {proc} model-instance-id=d ie-config={options.config} {track} "
            f"! heterometaconvert add-empty-results=true ! heterometapublish file-path={{output}} file-format=json-lines ! fakesink").split()
