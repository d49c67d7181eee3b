#!/usr/bin/env python3
"""Whole pipelines, from an H.264 file to objects: us beside OpenCV's decoding with OpenVINO's AsyncInferQueue.

    opencv_openvino.py BUILD VIDEO MODEL MODEL_PROC [--streams 1 4 16] [--rounds 5] [--seconds 10] [--precision f32] [--csv FILE] [--venv DIR]

VIDEO holds H.264, MODEL is a detector with DetectionOutput or a YOLOX. Each round plays, for each number of streams, once ours
    filesrc ! h264parse ! avdec_h264 ! heterodetect model-instance-id=shared ! fakesink        (a pipeline a stream)
and once the peer: a thread a stream with cv2.VideoCapture and cv2.resize, one AsyncInferQueue with as many requests as OpenVINO
wants in THROUGHPUT mode, its preprocessing for type and layout, boxes in numpy and cv2.dnn.NMSBoxes; in an order that turns.
The file's video is repeated so that it lasts. Printed: frames/s and CPU ms a frame of both, their ratios (frames/s; CPU time of the peer
over ours) as medians with the spread, and the objects a frame that both found. BUILD needs -Dbenchmarks=true.
"""
import argparse
import csv
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import peers
import plays

WARMUP = 3


def elementary_stream(video, copies, folder):
    """The file's H.264 as a byte stream, several times over."""
    once = folder / "once.h264"
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={video}", "!", "parsebin", "!", "h264parse", "config-interval=-1", "!",
                    "video/x-h264,stream-format=byte-stream,alignment=au", "!", "filesink", f"location={once}"], check=True)
    stream = folder / "video.h264"
    stream.write_bytes(once.read_bytes() * copies)
    return stream


class Detector:
    """Picture in, boxes out, as a user of OpenVINO's Python interface writes it."""

    def __init__(self, model, precision, threshold):
        import numpy
        import openvino
        from openvino.preprocess import ColorFormat, PrePostProcessor
        core = openvino.Core()
        read = core.read_model(model)
        self.is_yolox = len(read.outputs[0].get_partial_shape()) == 3
        steps = PrePostProcessor(read)
        steps.input(0).tensor().set_element_type(openvino.Type.u8).set_layout(openvino.Layout("NHWC")).set_color_format(ColorFormat.BGR)
        steps.input(0).model().set_layout(openvino.Layout("NCHW"))
        config = {"PERFORMANCE_HINT": "THROUGHPUT"}
        if precision:
            config["INFERENCE_PRECISION_HINT"] = precision
        self.compiled = core.compile_model(steps.build(), "CPU", config)
        _, self.height, self.width, _ = self.compiled.inputs[0].shape
        self.threshold = threshold
        if self.is_yolox:
            cells = [numpy.stack(numpy.meshgrid(numpy.arange(self.width // s), numpy.arange(self.height // s)), -1).reshape(-1, 2) for s in (8, 16, 32)]
            self.grid = numpy.concatenate(cells)
            self.stride = numpy.concatenate([numpy.full((len(c), 1), s) for c, s in zip(cells, (8, 16, 32))])

    def input(self, frame):
        import cv2
        height, width = frame.shape[:2]
        if not self.is_yolox:
            return cv2.resize(frame, (self.width, self.height))[None], (width, height)
        scale = min(self.width / width, self.height / height)
        small = cv2.resize(frame, (int(width * scale), int(height * scale)))
        padded = cv2.copyMakeBorder(small, 0, self.height - small.shape[0], 0, self.width - small.shape[1], cv2.BORDER_CONSTANT, value=(114, 114, 114))
        return padded[None], 1 / scale

    def objects(self, request, scale):
        """Number of objects; the boxes are made as well."""
        import cv2
        import numpy
        out = request.get_output_tensor(0).data
        if not self.is_yolox:
            rows = out.reshape(-1, 7)
            rows = rows[rows[:, 2] >= self.threshold]
            boxes = rows[:, 3:] * (*scale, *scale)
            return len(boxes)
        rows = out[0]
        keep = rows[:, 4] >= self.threshold
        rows = rows[keep]
        classes = rows[:, 5:].argmax(1) if len(rows) else []
        scores = rows[:, 4] * rows[numpy.arange(len(rows)), 5 + numpy.asarray(classes, int)]
        sure = scores >= self.threshold
        rows, scores, classes = rows[sure], scores[sure], numpy.asarray(classes)[sure]
        centre = (rows[:, :2] + self.grid[keep][sure]) * self.stride[keep][sure] * scale
        size = numpy.exp(rows[:, 2:4]) * self.stride[keep][sure] * scale
        boxes = numpy.concatenate([centre - size / 2, size], 1)
        if not len(boxes):
            return 0
        return len(cv2.dnn.NMSBoxesBatched(boxes.tolist(), scores.tolist(), classes.tolist(), self.threshold, 0.45))


def play_peer(video, model, streams, seconds, precision, threshold):
    """Runs in the peers' interpreter; the same measures as bench_streams."""
    import cv2
    import openvino
    detector = Detector(model, precision, threshold)
    queue = openvino.AsyncInferQueue(detector.compiled)
    counts = [0] * streams
    objects = [0] * streams
    ended = threading.Event()
    starting = threading.Lock()

    def done(request, user):
        stream, scale = user
        objects[stream] += detector.objects(request, scale)
        counts[stream] += 1

    queue.set_callback(done)

    def run(stream):
        capture = cv2.VideoCapture(video)
        while not ended.is_set():
            there, frame = capture.read()
            if not there:
                ended.set()
                break
            tensor, scale = detector.input(frame)
            with starting:
                queue.start_async(tensor, (stream, scale), share_inputs=True)

    def cpu():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    threads = [threading.Thread(target=run, args=(s,)) for s in range(streams)]
    for thread in threads:
        thread.start()
    time.sleep(WARMUP)
    before, start_cpu, start = list(counts), cpu(), time.perf_counter()
    ended.wait(seconds)
    wall, used, frames = time.perf_counter() - start, cpu() - start_cpu, [a - b for a, b in zip(counts, before)]
    ended.set()
    for thread in threads:
        thread.join()
    queue.wait_all()
    print(json.dumps({"seconds": wall, "cpu_seconds": used, "frames": frames, "objects": sum(objects) / max(1, sum(counts)), "requests": len(queue)}), flush=True)
    os._exit(0)  # OpenVINO's threads and Python's end aborts the process now and then


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "video", "model", "model_proc"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).absolute())
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
        video = elementary_stream(options.video, options.copies, pathlib.Path(folder))
        description = (f"filesrc location={video} ! h264parse ! avdec_h264 ! heterodetect model={options.model} model-proc={options.model_proc} "
                       f"ie-config={config} model-instance-id=shared ! fakesink name=sink")

        def ours(streams):
            play = plays.streams(options.build, description, streams, warmup=WARMUP, seconds=options.seconds)
            return play["plain"], play["stats"]["objects"] / play["stats"]["frames-analysed"]

        def theirs(streams):
            command = [python, HERE / "opencv_openvino.py", "--peer", video, options.model, streams, options.seconds, options.precision, threshold]
            play = json.loads(subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True).stdout)
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
    if sys.argv[1:2] == ["--peer"]:
        video, model, streams, seconds, precision, threshold = sys.argv[2:]
        play_peer(video, model, int(streams), float(seconds), precision, float(threshold))
    else:
        main()
