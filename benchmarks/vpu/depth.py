#!/usr/bin/env python3
"""Throughput of a VPU against the number of requests in flight, over a simulated link.

    depth.py BUILD [--model FILE] [--link-ms 2] [--execution-ms 2] [--seconds 3] [--png FILE] [--csv FILE]

Starts hetero-vpud for every profile with a link that takes half of --link-ms each way and units that take --execution-ms at
least, and runs `hetero bench` with 1, 2, 4, 8 and 32 requests. The bound is units / execution time; printed is the share of it.
"""
import argparse
import contextlib
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEPTHS = (1, 2, 4, 8, 32)
PROFILES = {"myriad": (4, 1), "fpga": (5, 1), "hddl": (32, 8)}  # requests, units


@contextlib.contextmanager
def device(build, profile, *options):
    """HETERO_VPU_FOLDER of a running hetero-vpud."""
    with tempfile.TemporaryDirectory() as folder:
        socket = pathlib.Path(folder) / "a.sock"
        with subprocess.Popen([build / "devices/vpu/daemon/hetero-vpud", "--socket", socket, "--profile", profile, *options],
                              stdout=subprocess.DEVNULL) as program:
            while not socket.exists() and program.poll() is None:
                time.sleep(0.01)
            try:
                yield folder
            finally:
                program.terminate()


def frames_per_second(build, folder, model, depth, seconds):
    command = [build / "tools/hetero", "bench", model, "-d", "VPU", "--api", "async", "--nireq", depth, "-t", seconds, "--json"]
    result = subprocess.run([str(c) for c in command], env={**os.environ, "HETERO_VPU_FOLDER": folder}, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout)["throughput_fps"]


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for profile, (credits, _) in PROFILES.items():
        mine = [row for row in rows if row["profile"] == profile]
        axes.plot([row["requests"] for row in mine], [100 * row["share"] for row in mine], marker="o", label=f"{profile} (depth {credits})")
    axes.axhline(95, color="gray", linestyle=":", linewidth=1)
    axes.set(xscale="log", xlabel="requests in flight", ylabel="% of units / execution time", ylim=(0, 105))
    axes.set_xticks(DEPTHS, [str(d) for d in DEPTHS])
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--model", type=pathlib.Path, default=ROOT / "pipelines/demo/models/scene_attributes.onnx")
    parser.add_argument("--link-ms", type=float, default=2)
    parser.add_argument("--execution-ms", type=float, default=2)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--png", type=pathlib.Path)
    parser.add_argument("--csv", type=pathlib.Path)
    options = parser.parse_args()
    if options.png and not importlib.util.find_spec("matplotlib"):
        parser.error("--png needs matplotlib (python3-matplotlib), which this interpreter does not have")

    rows = []
    for profile, (credits, units) in PROFILES.items():
        bound = units * 1000 / options.execution_ms
        speed = ("--link-us", str(int(500 * options.link_ms)), "--execution-us", str(int(1000 * options.execution_ms)))
        with device(options.build, profile, *speed) as folder:
            for depth in DEPTHS:
                rate = frames_per_second(options.build, folder, options.model, depth, options.seconds)
                rows.append({"profile": profile, "requests": depth, "frames_per_second": round(rate, 1), "share": round(rate / bound, 4)})
                at = " <- its depth" if depth == credits else ""
                print(f"{profile:7s} {depth:3d} requests: {rate:8.1f} of {bound:.0f} frames/s, {rate / bound:.3f}{at}", flush=True)
            if credits not in DEPTHS:
                rate = frames_per_second(options.build, folder, options.model, credits, options.seconds)
                print(f"{profile:7s} {credits:3d} requests: {rate:8.1f} of {bound:.0f} frames/s, {rate / bound:.3f} <- its depth", flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    if options.png:
        draw(rows, options.png)


if __name__ == "__main__":
    sys.exit(main())
