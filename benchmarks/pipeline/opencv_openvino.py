#!/usr/bin/env python3
"""Whole pipelines, from an H.264 file to objects or to lines of JSON: us beside OpenCV's decoding with OpenVINO.

    opencv_openvino.py BUILD VIDEO MODEL MODEL_PROC [--classifier MODEL MODEL_PROC] [--streams 1 4 16] [--rounds 5] [--seconds 10] [--precision f32]
                       [--csv FILE] [--venv DIR]

VIDEO holds H.264, MODEL is a detector with DetectionOutput or a YOLOX. Each round plays, for each number of streams, once ours
    filesrc ! h264parse ! avdec_h264 ! heterodetect model-instance-id=detector ! fakesink        (a pipeline a stream)
and once the peer (peer_pipeline.py, peer_stages.py): a thread a stream with cv2.VideoCapture and cv2.resize, one AsyncInferQueue with as
many requests as OpenVINO wants in THROUGHPUT mode, its preprocessing for type and layout, boxes in numpy and cv2.dnn.NMSBoxes; in an
order that turns. With --classifier ours goes on, behind heterodetect, with
    heterotrack tracking-type=short-term-imageless ! heteroclassify ! heterometaconvert ! heterometapublish file-format=json-lines
and the peer with a tracker by overlap in numpy, a request for each object, and json.dumps.
The file's video is repeated so that it lasts. Printed: frames/s and CPU ms a frame of both, their ratios (frames/s; CPU time of the peer
over ours) as medians with the spread, and the objects a frame that both found. BUILD needs -Dbenchmarks=true.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import peers
import plays

WARMUP = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "video", "model", "model_proc"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("--classifier", nargs=2, metavar=("MODEL", "MODEL_PROC"), type=lambda text: pathlib.Path(text).absolute(), help="what is said of every object that was found")
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--precision", default="", help="f32, bf16; empty: each one's own choice")
    parser.add_argument("--copies", type=int, default=20, help="how often the video is repeated")
    parser.add_argument("--csv", type=pathlib.Path)
    peers.add_arguments(parser)
    options = parser.parse_args()
    python = peers.interpreters(options)["openvino"]
    threshold = json.loads(options.model_proc.read_text())["output_postproc"][0]["threshold"]
    config = "PERFORMANCE_HINT=THROUGHPUT" + (f",INFERENCE_PRECISION_HINT={options.precision}" if options.precision else "")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        video = plays.elementary_stream(options.video, options.copies, pathlib.Path(folder))
        stages = plays.detector(options.model, options.model_proc, config)
        if options.classifier:
            stages += plays.behind_the_detector(*options.classifier, config)
        description = f"{plays.decoder(video)} ! {' ! '.join(stages)} ! fakesink name=sink"

        def ours(streams):
            play = plays.streams(options.build, description, streams, warmup=WARMUP, seconds=options.seconds)
            return play["plain"], play["stats"]["heterodetect"]["objects"] / play["stats"]["heterodetect"]["frames-analysed"]

        def theirs(streams):
            what = {"video": str(video), "model": str(options.model), "streams": streams, "seconds": options.seconds, "warmup": WARMUP,
                    "precision": options.precision, "threshold": threshold, "classifier": str(options.classifier[0]) if options.classifier else None}
            play = json.loads(subprocess.run([python, HERE / "peer_pipeline.py", json.dumps(what)], check=True, stdout=subprocess.PIPE, text=True).stdout)
            return play, play["objects"]

        for number in range(options.rounds):
            for streams in options.streams:
                sides = {"ours": ours, "peer": theirs}
                results = {name: sides[name](streams) for name in (list(sides) if number % 2 == 0 else list(sides)[::-1])}
                row = {"round": number, "streams": streams}
                for name, (phase, objects) in results.items():
                    row[f"{name} frames/s"] = plays.rate(phase)
                    row[f"{name} CPU ms"] = phase["cpu_seconds"] * 1000 / max(1, sum(phase["frames"]))
                    row[f"{name} objects"] = objects
                rows.append(row)
                print(", ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()), flush=True)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    for streams in options.streams:
        of = [row for row in rows if row["streams"] == streams]
        speed = [row["ours frames/s"] / row["peer frames/s"] for row in of]
        cpu = [row["peer CPU ms"] / row["ours CPU ms"] for row in of]
        print(f"{streams:2d} streams: frames/s {statistics.median(speed):.3f} [{min(speed):.3f} {max(speed):.3f}], CPU time {statistics.median(cpu):.3f} [{min(cpu):.3f} {max(cpu):.3f}]")


if __name__ == "__main__":
    main()
