#!/usr/bin/env python3
"""Many streams on one shared model: fairness, throughput beside `hetero bench`, and a stalled stream.

    streams.py BUILD MODEL [--model-proc FILE] [--streams 16] [--rounds 5] [--seconds 10] [--stall 10] [--size 224x224] [--device CPU] [--config KEY=VALUE,...]

Each round plays `hetero bench` (as many requests in flight as the device wants) once with pictures like the streams', which every inference
converts first, and once with ready tensors, and once the streams, whose frames come from memory and cost nothing. Printed per round and as median
with the spread:
    throughput   frames/s of all streams over those of `hetero bench` that converts the same pictures
    of tensors   the same over `hetero bench` that converts nothing
    fairness     frames of the slowest stream over those of the fastest
    others       frames/s of the other streams while the first one's sink holds a frame, over those before and after
BUILD needs -Dbenchmarks=true.
"""
import argparse
import pathlib
import statistics

import plays


NAMES = ("throughput", "of tensors", "fairness", "others")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "model", "--model-proc"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--streams", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--stall", type=float, default=10)
    parser.add_argument("--size", default="224x224", help="of the frames")
    parser.add_argument("--device", default="CPU")
    parser.add_argument("--config", default="PERFORMANCE_HINT=THROUGHPUT")
    parser.add_argument("--element", default="heterodetect", help="or heteroinference, whose results are the outputs")
    options = parser.parse_args()

    width, height = options.size.split("x")
    descriptor = f"model-proc={options.model_proc}" if options.model_proc else ""
    description = (f"{plays.still(width, height, 'NV12')} ! {options.element} model={options.model} {descriptor} device={options.device} "
                   f"ie-config={options.config} inference-region=full-frame model-instance-id=shared ! fakesink name=sink")
    rows = []
    for _ in range(options.rounds):
        common = ("-d", options.device, "-t", options.seconds, "--hint", "throughput")
        pictures, tensors = (plays.bench(options.build, options.model, *common, *more)["throughput_fps"] for more in (("--frames", f"NV12:{options.size}"), ()))
        play = plays.streams(options.build, description, options.streams, seconds=options.seconds, stall=options.stall)
        frames = play["plain"]["frames"]
        row = [plays.rate(play["plain"]) / pictures, plays.rate(play["plain"]) / tensors, min(frames) / max(frames)]
        if options.stall:
            others = [sum(play[p]["frames"][1:]) / play[p]["seconds"] for p in ("plain", "stalled", "after")]
            row.append(others[1] / ((others[0] + others[2]) / 2))
        rows.append(row)
        print(f"bench {pictures:.1f} and {tensors:.1f} frames/s, streams {plays.rate(play['plain']):.1f} frames/s, frame time {play['stats'][options.element]['frame-time-mean'] / 1e6:.1f} ms: "
              + ", ".join(f"{name} {value:.3f}" for name, value in zip(NAMES, row)), flush=True)
    for name, values in zip(NAMES, zip(*rows)):
        print(f"{name} {statistics.median(values):.3f} [{min(values):.3f} {max(values):.3f}]")


if __name__ == "__main__":
    main()
