#!/usr/bin/env python3
"""How many streams a machine carries: our pipeline and OpenCV with OpenVINO, by the same search of `hetero density`.

    compare.py BUILD VIDEO NAME=MODEL,MODEL_PROC ... [--rounds 3] [--fps 15] [--p99 200ms] [--seconds 5] [--json FILE] [--venv DIR]

VIDEO is an MP4 with H.264 and, as from a camera, without B-frames. For each model a round searches once for ours
    filesrc ! qtdemux ! h264parse ! avdec_h264 ! heterodetect model-instance-id=detector ! fakesink
and once for the peer (peer.py), in an order that turns. The first round searches for both with PERFORMANCE_HINT=THROUGHPUT and with LATENCY
and goes on with the one that carries more. Printed: streams of each search, how many processors others kept busy meanwhile, medians with the
spread, the ratio of medians. --at N measures the processor time of a frame with N streams instead, the ratio of which says what an idle
machine would carry.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "pipeline")]
import peers
import plays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("video", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL,MODEL_PROC")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fps", type=float, default=15)
    parser.add_argument("--p99", default="200ms")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--first", type=int, default=8, help="streams of the first trial of each search")
    parser.add_argument("--hints", nargs="+", default=["THROUGHPUT", "LATENCY"], help="values of PERFORMANCE_HINT that the first round tries")
    parser.add_argument("--at", type=int, help="no search: processor time a frame with so many streams, for a machine that others use, too")
    parser.add_argument("--json", type=pathlib.Path)
    peers.add_arguments(parser)
    options = parser.parse_args()
    python = peers.interpreters(options)["openvino"]
    environment = plays.environment(options.build)
    rows = []

    def search(*words):
        """The result of one device of a search."""
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            extent = ["--first", options.at, "--most", options.at, "--confirm", 1, "--p99", "20s"] if options.at else ["--first", options.first, "--p99", options.p99, "--most-others", 0.15]
            command = [options.build / "tools/hetero", "density", "--fps", options.fps, "--seconds", options.seconds, "--warmup", 1.5, *extent,
                       "--json", file.name, *words]
            done = subprocess.run([str(word) for word in command], env=environment, stdout=subprocess.PIPE, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"hetero density ended with {done.returncode}: {' '.join(map(str, command))}")
            return json.loads(pathlib.Path(file.name).read_text())["devices"][0]

    for text in options.models:
        name, _, files = text.partition("=")
        model, _, model_proc = files.partition(",")
        threshold = json.loads(pathlib.Path(model_proc).read_text())["output_postproc"][0]["threshold"]
        pipeline = (f"filesrc location={options.video} ! qtdemux ! h264parse ! avdec_h264 ! heterodetect model={model} model-proc={model_proc} "
                    "model-instance-id=detector ie-config=PERFORMANCE_HINT={} ! fakesink")
        sides = {"ours": lambda hint: search("--", pipeline.format(hint)),
                 "peer": lambda hint: search("--program", "--", python, HERE / "peer.py", options.video, model, threshold, hint)}
        streams = {side: {hint: [] for hint in options.hints} for side in sides}
        for number in range(options.rounds):
            turns = [(side, hint) for hint in options.hints for side in sides if hint in streams[side]]
            for side, hint in turns if number % 2 == 0 else turns[::-1]:
                result = sides[side](hint)
                streams[side][hint].append(result["streams"])
                rows.append({"model": name, "round": number, "side": side, "hint": hint, "result": result})
                trials = result["trials"]
                own = [trial for trial in trials if trial["streams"] == result["streams"]] or trials
                print(f"{name}, round {number}, {side} {hint}: {result['streams']} streams, limit {result['limit']}, "
                      f"CPU {statistics.median(t['cpu_ms_per_frame'] for t in own):.2f} ms a frame, memory {own[-1]['memory_mib']:.0f} MiB, "
                      f"others {statistics.mean(t['other_cpus'] for t in trials):.2f} CPUs", flush=True)
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1))
            if number == 0:
                streams = {side: {max(hints, key=lambda hint: hints[hint][0]): []} for side, hints in streams.items()}
                streams = {side: {hint: [row["result"]["streams"] for row in rows if (row["model"], row["side"], row["hint"]) == (name, side, hint)] for hint in hints}
                           for side, hints in streams.items()}
        if options.at:
            cost = {side: [row["result"]["trials"][0]["cpu_ms_per_frame"] for row in rows if (row["model"], row["side"]) == (name, side)] for side in sides}
            ratios = [theirs / ours for ours, theirs in zip(cost["ours"], cost["peer"])]
            print(f"{name}: CPU ms a frame " + ", ".join(f"{side} {statistics.median(c):.2f} [{min(c):.2f} {max(c):.2f}]" for side, c in cost.items())
                  + f", peer over ours {statistics.median(ratios):.2f} [{min(ratios):.2f} {max(ratios):.2f}]", flush=True)
            continue
        text = []
        for side, ((hint, counts),) in ((side, hints.items()) for side, hints in streams.items()):
            text.append(f"{side} ({hint}) {statistics.median(counts):g} [{min(counts)} {max(counts)}]")
        ours, theirs = (statistics.median(next(iter(streams[side].values()))) for side in sides)
        print(f"{name}: {', '.join(text)}, ratio {ours / max(1, theirs):.2f}", flush=True)


if __name__ == "__main__":
    main()
