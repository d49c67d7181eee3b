#!/usr/bin/env python3
"""How much of the cores a pipeline turns into work.

efficiency.py BUILD VIDEO MODEL MODEL_PROC [--rounds N]: measures, alternately in each round, the core
time a frame needs for decoding, for preprocessing and for inference, each alone on one core, and the
frames/s of the whole pipeline `decodebin ! heterodetect`. Prints
    efficiency = frames/s * (core time of the three) / cores
as median and spread; 1.0 means that the cores did nothing else. BUILD needs -Dbenchmarks=true.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def cpu_seconds(*command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def frame_count(video):
    out = run("gst-launch-1.0", "filesrc", f"location={video}", "!", "decodebin", "!", "fakesink", "silent=false", "-v")
    return len(re.findall(r"chain +\*+", out))


def decode_ms(video, frames):
    decode = cpu_seconds("gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!", "fakesink")
    # What a process of gst-launch costs by itself.
    start = cpu_seconds("gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!", "fakesink")
    return (decode - start) * 1000 / frames


def preprocess_ms(build):
    out = json.loads(run(build / "benchmarks/preprocess/bench_preprocess", "--benchmark_filter=ours_street", "--benchmark_format=json"))
    return out["benchmarks"][0]["cpu_time"]


def inference_ms(build, model):
    out = json.loads(run(build / "tools/hetero", "bench", model, "-nstreams", 1, "-nthreads", 1, "-nireq", 1, "-t", 4, "-json"))
    return out["latency_ms"]["median"]


def pipeline_fps(video, model, model_proc):
    out = run("gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "decodebin", "!", "heterodetect", f"model={model}",
              f"model-proc={model_proc}", "!", "heterofpscounter", "!", "fakesink")
    return float(re.search(r"overall .*total=([0-9.]+) fps", out).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "video", "model", "model_proc"):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ["GST_PLUGIN_PATH"] = str(options.build / "gst")
    cores = len(os.sched_getaffinity(0))
    frames = frame_count(options.video)
    rows = []
    for _ in range(options.rounds):
        row = [decode_ms(options.video, frames), preprocess_ms(options.build), inference_ms(options.build, options.model),
               pipeline_fps(options.video, options.model, options.model_proc)]
        row.append(row[3] * sum(row[:3]) / 1000 / cores)
        rows.append(row)
        print("decode {:.2f} ms, preprocess {:.2f} ms, inference {:.2f} ms, pipeline {:.1f} frames/s, efficiency {:.3f}".format(*row), flush=True)
    efficiency = sorted(row[4] for row in rows)
    print(f"{frames} frames, {cores} cores: efficiency {statistics.median(efficiency):.3f} ({efficiency[0]:.3f} to {efficiency[-1]:.3f}), "
          f"pipeline {statistics.median(row[3] for row in rows):.1f} frames/s")


if __name__ == "__main__":
    main()
