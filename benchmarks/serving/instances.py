#!/usr/bin/env python3
"""Two instances of `hetero launch` beside one, and one beside gst-launch-1.0 alone, alternately.

    instances.py BUILD MODEL [--model-proc FILE] [--size 640x384] [--frames 600] [--rounds 5] [--instances 2] [--config KEY=VALUE,...]

Frames come from memory and cost next to nothing; every instance has as many as the option says. Each round runs the
same line by gst-launch-1.0, as one instance and as several, with all frames and with one, so that starting is taken
out. Printed per round and as median with the spread:
    throughput   frames/s of several instances together over those of one
    launch       frames/s of one instance over those of gst-launch-1.0
    start        s that `hetero launch` takes longer than gst-launch-1.0 for a single frame
    processor    processor time of the launcher itself, in percent of the run
    memory       MiB (PSS) in the middle of the run: gst-launch-1.0, one instance, several; the launcher is counted
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def pss_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, options):
        self.options = options
        self.launch = [str(options.build / "tools/hetero"), "launch"]
        self.folder = tempfile.TemporaryDirectory()
        self.environment = {**os.environ, "GST_PLUGIN_PATH": str(options.build / "gst"), "GST_HETERO_CACHE_DIR": self.folder.name + "/cache"}

    def line(self, frames):
        width, height = self.options.size.split("x")
        descriptor = f"model-proc={self.options.model_proc}" if self.options.model_proc else ""
        return (f"videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width={width},height={height},framerate=30/1 ! imagefreeze num-buffers={frames} "
                f"! heterodetect model={self.options.model} {descriptor} ie-config={self.options.config} ! fakesink").split()

    def run(self, command, frames):
        """Seconds, memory in the middle and the launcher's own processor time."""
        begin = time.monotonic()
        memory, processor = 0, 0
        with open(self.folder.name + "/log.txt", "w+") as log:
            process = subprocess.Popen([*command, *self.line(frames)], stdout=log, stderr=log, env=self.environment)
            while process.poll() is None:
                time.sleep(0.02)
                try:
                    memory = max(memory, sum(pss_mib(pid) for pid in (process.pid, *children(process.pid)))) if frames > 1 else 0
                    processor = processor_s(process.pid)
                except (FileNotFoundError, ProcessLookupError, PermissionError):
                    pass  # it has just ended
                time.sleep(0.2 if frames > 1 else 0)
            if process.returncode != 0:
                log.seek(0)
                raise SystemExit(f"{command} failed:\n{log.read()}")
        return time.monotonic() - begin, memory, processor

    def rate(self, command):
        """Frames/s of one process, without its start; seconds of a start; memory; processor time of the parent by second."""
        start, _, _ = self.run(command, 1)
        whole, memory, processor = self.run(command, self.options.frames)
        return (self.options.frames - 1) / (whole - start), start, memory, processor / whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "model", "--model-proc"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--size", default="640x384", help="of the frames")
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--config", default="PERFORMANCE_HINT=THROUGHPUT")
    options = parser.parse_args()
    bench = Bench(options)
    commands = {
        "alone": ["gst-launch-1.0", "-q"],
        "one": [*bench.launch, "--instances", "1", "--"],
        "several": [*bench.launch, "--instances", str(options.instances), "--"],
    }
    for command in commands.values():
        bench.run(command, 1)  # choices and weights are in the cache from here on
    rows = {name: [] for name in ("throughput", "launch", "start", "processor", "memory alone", "memory one", "memory several")}
    for _ in range(options.rounds):
        alone, one, several = (bench.rate(command) for command in commands.values())
        values = (several[0] * options.instances / one[0], one[0] / alone[0], one[1] - alone[1], 100 * one[3], alone[2], one[2], several[2])
        for column, value in zip(rows.values(), values):
            column.append(value)
        print(f"gst-launch-1.0 {alone[0]:.1f} frames/s, one instance {one[0]:.1f}, {options.instances} instances {several[0] * options.instances:.1f}: "
              + ", ".join(f"{name} {value:.3f}" for name, value in zip(rows, values)), flush=True)
    for name, values in rows.items():
        print(f"{name} {statistics.median(values):.3f} [{min(values):.3f} {max(values):.3f}]")


if __name__ == "__main__":
    main()
