#!/usr/bin/env python3
"""How many streams a machine carries: our pipeline and OpenCV with OpenVINO, by the same search of `hetero density`.

    compare.py BUILD VIDEO NAME=MODEL,MODEL_PROC ... [--rounds 3] [--fps 15] [--p99 200ms] [--seconds 5] [--json FILE] [--venv DIR]

VIDEO is an MP4 with H.264 and, as from a camera, without B-frames. For each model a round searches once for ours
    filesrc ! qtdemux ! h264parse ! avdec_h264 ! heterodetect model-instance-id=detector ! fakesink
and once for the peer (peer.py), in an order that turns. The first round searches for the peer with PERFORMANCE_HINT=THROUGHPUT and with
LATENCY and goes on with the one that carries more. Printed: streams of each search, their median with the spread, the ratio of medians.
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
    parser.add_argument("--json", type=pathlib.Path)
    peers.add_arguments(parser)
    options = parser.parse_args()
    python = peers.interpreters(options)["openvino"]
    environment = plays.environment(options.build)
    rows = []

    def search(*words):
        """The result of one device of a search."""
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [options.build / "tools/hetero", "density", "--fps", options.fps, "--p99", options.p99, "--seconds", options.seconds, "--warmup", 1.5,
                       "--first", options.first, "--json", file.name, *words]
            done = subprocess.run([str(word) for word in command], env=environment, stdout=subprocess.PIPE, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"hetero density ended with {done.returncode}: {' '.join(map(str, command))}")
            return json.loads(pathlib.Path(file.name).read_text())["devices"][0]

    for text in options.models:
        name, _, files = text.partition("=")
        model, _, model_proc = files.partition(",")
        threshold = json.loads(pathlib.Path(model_proc).read_text())["output_postproc"][0]["threshold"]
        pipeline = (f"filesrc location={options.video} ! qtdemux ! h264parse ! avdec_h264 ! heterodetect model={model} model-proc={model_proc} "
                    "model-instance-id=detector ! fakesink")

        def peer(hint):
            return search("--program", "--", python, HERE / "peer.py", options.video, model, threshold, hint)

        hints = {"THROUGHPUT": [], "LATENCY": []}
        ours = []
        for number in range(options.rounds):
            sides = [("ours", None)] + [("peer", hint) for hint in hints]
            for side, hint in sides if number % 2 == 0 else sides[::-1]:
                result = peer(hint) if side == "peer" else search("--", pipeline)
                (hints[hint] if side == "peer" else ours).append(result["streams"])
                best = max((t for t in result["trials"] if t["streams"] == result["streams"]), key=lambda t: t["at_s"], default={})
                rows.append({"model": name, "round": number, "side": side, "hint": hint, "result": result})
                print(f"{name}, round {number}, {side} {hint or ''}: {result['streams']} streams, limit {result['limit']}, "
                      f"CPU {best.get('cpu_ms_per_frame', 0):.2f} ms a frame, memory {best.get('memory_mib', 0):.0f} MiB", flush=True)
                if options.json:
                    options.json.write_text(json.dumps(rows, indent=1))
            if number == 0:
                better = max(hints, key=lambda hint: hints[hint][0])
                hints = {better: hints[better]}
        (hint, theirs), = hints.items()
        ratio = statistics.median(ours) / max(1, statistics.median(theirs))
        print(f"{name}: ours {statistics.median(ours):g} [{min(ours)} {max(ours)}], peer ({hint}) {statistics.median(theirs):g} [{min(theirs)} {max(theirs)}], "
              f"ratio {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
