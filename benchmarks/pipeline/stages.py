#!/usr/bin/env python3
"""Where the processor time of a pipeline goes, stage by stage.

    stages.py BUILD VIDEO MODEL MODEL_PROC --classifier MODEL MODEL_PROC [--rounds 5] [--seconds 5] [--precision f32]

One stream of the pipeline of opencv_openvino.py. Each round plays it with one stage after the other added: decoding, heterodetect,
heterotrack, heteroclassify, heterometaconvert, heterometapublish; a stage costs what the process' time a frame rises by (medians, and
the least and largest of the rounds). Then once with one thread a model and one request in flight, traced by heterotrace: the mean time
of the parts of a frame in each element, where a part has a thread for itself. BUILD needs -Dbenchmarks=true.
"""
import argparse
import collections
import json
import pathlib
import statistics
import tempfile

import plays

WARMUP = 2
PARTS = ("preprocess", "infer", "decode", "attach")


def traced(build, description, file, seconds):
    """{(element, part): mean us a frame} of heterotrace."""
    play = plays.streams(build, description, warmup=WARMUP, seconds=seconds, tracers=f"heterotrace(file={file},limit=100000000)")
    events = json.loads(file.read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    times = collections.defaultdict(float)
    for event in events:
        part = event["name"].split(" ")[0]
        if event["ph"] == "X" and part in PARTS:
            times[names[event["pid"]], part] += event["dur"]
    frames = play["stats"]["heterodetect"]["frames-analysed"]
    return {key: total / frames for key, total in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    path = lambda text: pathlib.Path(text).absolute()
    for name in ("build", "video", "model", "model_proc"):
        parser.add_argument(name, type=path)
    parser.add_argument("--classifier", nargs=2, metavar=("MODEL", "MODEL_PROC"), type=path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--precision", default="f32")
    options = parser.parse_args()
    precision = f"INFERENCE_PRECISION_HINT={options.precision}"

    def stages(config):
        return [*plays.detector(options.model, options.model_proc, config), *plays.behind_the_detector(*options.classifier, config)]

    with tempfile.TemporaryDirectory() as folder:
        video = plays.elementary_stream(options.video, 1, pathlib.Path(folder))

        def description(elements):
            return " ! ".join([plays.decoder(video, endless=True), *elements, "fakesink name=sink"])

        elements = stages(f"PERFORMANCE_HINT=THROUGHPUT,{precision}")
        names = ["decoding", *(element.split(" ")[0] for element in elements)]
        costs = {name: [] for name in names}
        for _ in range(options.rounds):
            before = 0
            for count, name in enumerate(names):
                play = plays.streams(options.build, description(elements[:count]), warmup=WARMUP, seconds=options.seconds)
                cost = play["plain"]["cpu_seconds"] * 1e6 / sum(play["plain"]["frames"])
                costs[name].append(cost - before)
                before = cost
        print("processor time of a frame, us")
        for name, values in costs.items():
            print(f"  {name:20s} {statistics.median(values):9.1f} [{min(values):.1f} {max(values):.1f}]")
        alone = [element.replace("model=", "nireq=1 model=", 1) if "ie-config" in element else element for element in stages(f"NUM_STREAMS=1,INFERENCE_NUM_THREADS=1,{precision}")]
        print("of which in the trace, one request in flight, us")
        for (element, part), value in traced(options.build, description(alone), pathlib.Path(folder) / "trace.json", options.seconds).items():
            print(f"  {element + ' ' + part:32s} {value:9.1f}")


if __name__ == "__main__":
    main()
