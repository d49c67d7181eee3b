#!/usr/bin/env python3
"""What Python costs in a pipeline: us a frame and us a region of an empty callback that reads place, label and confidence of every region.

    frames.py BUILD [--rounds 7] [--frames 5000] [--our-python EXE]

A pipeline of 320x240 pictures with 0, 10 and 100 regions into fakesink, each way in a process of its own, in turns: without Python, the element
heteropython in the shared and in an interpreter of its own, a pad probe with hetero.gst, and a pad probe that reads the regions by ctypes, the
published way. A way's cost is its processor time minus that of the same pipeline without Python in the same
round; all happens in one thread. Printed are medians with the least and
the most of the rounds. The interpreter needs PyGObject and has to be the one that the package was built for.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(1, str(HERE.parent / "models"))
sys.path.insert(1, str(HERE.parent))
from processes import Failure, execute  # noqa: E402

WAYS = {"element": "heteropython", "element-own": "heteropython interpreter=own", "probe": "pad probe with hetero.gst", "ctypes": "pad probe with ctypes",
        "probe alone": "pad probe that does nothing"}
REGIONS = (0, 10, 100)


def text(values):
    return f"{statistics.median(values):.2f} [{min(values):.2f} {max(values):.2f}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda name: pathlib.Path(name).absolute())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--our-python", default="/usr/bin/python3")
    arguments = parser.parse_args()
    if arguments.rounds < 1 or arguments.frames < 1:
        parser.error("--rounds and --frames are at least 1")
    build = arguments.build
    environment = {**os.environ, "PYTHONPATH": str(build / "python"), "GST_PLUGIN_PATH": f"{build / 'gst'}:{build / 'python/gst/element'}",
                   "GST_REGISTRY": str(build / "benchmark-registry.bin"), "PYTHONDONTWRITEBYTECODE": "1"}

    def measure(way, regions):
        asked = {"way": way, "frames": arguments.frames, "regions": regions}
        try:
            return json.loads(execute([arguments.our_python, HERE / "frame_side.py", json.dumps(asked)], env=environment))
        except Failure as failure:
            raise SystemExit(f"{way} with {regions} regions: {failure}") from None

    costs = {(way, regions): [] for way in WAYS for regions in REGIONS}
    rates = {(way, regions): [] for way in ("none", *WAYS) for regions in REGIONS}
    measure("none", 0)  # GStreamer's registry
    for _ in range(arguments.rounds):
        for regions in REGIONS:
            plain = measure("none", regions)
            rates["none", regions].append(arguments.frames / plain["seconds"])
            for way in WAYS:
                took = measure(way, regions)
                rates[way, regions].append(arguments.frames / took["seconds"])
                costs[way, regions].append((took["processor_seconds"] - plain["processor_seconds"]) / arguments.frames * 1e6)
    most = max(REGIONS)
    plain_rates = [f"{statistics.median(rates['none', regions]):.0f} with {regions} regions" for regions in REGIONS]
    print("frames/s without Python:", ", ".join(plain_rates))
    print("| way | us a frame, no regions | 10 regions | 100 regions | us a region | frames/s, 10 regions |")
    print("| --- | --- | --- | --- | --- | --- |")
    for way, name in WAYS.items():
        each = [(high - low) / most for high, low in zip(costs[way, most], costs[way, 0])]
        columns = [text(costs[way, regions]) for regions in REGIONS] + [text(each), f"{statistics.median(rates[way, 10]):.0f}"]
        print(f"| {name} | {' | '.join(columns)} |")


if __name__ == "__main__":
    main()
