#!/usr/bin/env python3
"""NV12 1080p to planar RGB of a square: us beside OpenCV, OpenVINO's preprocessing and GStreamer.

    compare.py BUILD [--sides 224 416 640] [--threads 1 2] [--rounds 5] [--csv FILE] [--venv DIR | --openvino-python EXE --python EXE]

BUILD has been configured with -Dbenchmarks=true. Every round measures each of them once, in an order
that rotates; printed are the medians in ms a picture and, beside the peers, how many times our time
they take, with the least and the largest of the rounds. With two threads we and OpenCV
convert two pictures at a time, OpenVINO and videoconvertscale have two threads for one.
All give float32 in 0..1 except videoconvertscale, which gives bytes.
"""
import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import peers

WIDTH, HEIGHT = 1920, 1080
OURS = "ours"
OPENCV = ("resize_then_colour", "colour_then_resize")
METHODS = (OURS, *OPENCV, "openvino", "videoconvertscale")
FRAMES = (100, 2100)  # the difference of two lengths has no start in it


def google_benchmark(build, method, side, threads):
    """Milliseconds a picture of a function of bench_preprocess."""
    name = f"^{method}/{side}/real_time/threads:{threads}$"
    done = subprocess.run([build / "benchmarks/preprocess/bench_preprocess", f"--benchmark_filter={name}", "--benchmark_min_time=0.3", "--benchmark_format=json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["benchmarks"][0]["real_time"]


def openvino_peer(side, threads):
    """Runs in the peers' interpreter: a model that is nothing but preprocessing."""
    import numpy
    import openvino
    from openvino.preprocess import ColorFormat, PrePostProcessor, ResizeAlgorithm

    parameter = openvino.opset13.parameter([1, 3, side, side], numpy.float32)
    steps = PrePostProcessor(openvino.Model([openvino.opset13.relu(parameter)], [parameter]))
    entry = steps.input()
    entry.tensor().set_element_type(openvino.Type.u8).set_color_format(ColorFormat.NV12_SINGLE_PLANE).set_spatial_static_shape(HEIGHT, WIDTH)
    entry.preprocess().convert_color(ColorFormat.RGB).convert_element_type(openvino.Type.f32).resize(ResizeAlgorithm.RESIZE_LINEAR).scale(255.0)
    entry.model().set_layout(openvino.Layout("NCHW"))
    settings = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(steps.build(), "CPU", settings).create_infer_request()
    picture = numpy.random.default_rng(1).integers(0, 256, (1, HEIGHT * 3 // 2, WIDTH, 1), dtype=numpy.uint8)
    request.set_input_tensor(openvino.Tensor(picture))
    request.infer()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.3:
        request.infer()
        count += 1
    print(1000 * (time.perf_counter() - start) / count)


def openvino(python, side, threads):
    done = subprocess.run([python, __file__, "--peer", str(side), str(threads)], check=True, capture_output=True, text=True)
    return float(done.stdout)


def videoconvertscale(side, threads):
    def seconds(frames):
        command = f"videotestsrc pattern=snow num-buffers=1 ! video/x-raw,format=NV12,width={WIDTH},height={HEIGHT} ! imagefreeze num-buffers={frames} ! videoconvertscale n-threads={threads} ! video/x-raw,format=RGBP,width={side},height={side},pixel-aspect-ratio={HEIGHT}/{WIDTH} ! fakesink sync=false"
        start = time.perf_counter()
        subprocess.run(["gst-launch-1.0", "-q", *command.split()], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - start

    few, many = (seconds(frames) for frames in FRAMES)
    return 1000 * (many - few) / (FRAMES[1] - FRAMES[0])


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--peer":
        return openvino_peer(int(sys.argv[2]), int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--sides", type=int, nargs="+", default=[224, 416, 640])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv", type=pathlib.Path)
    peers.add_arguments(parser)
    arguments = parser.parse_args()
    python = peers.interpreters(arguments)["openvino"]
    rows = []
    for threads in arguments.threads:
        for side in arguments.sides:
            run = {method: (lambda m=method: google_benchmark(arguments.build, m, side, threads)) for method in (OURS, *OPENCV)}
            run["openvino"] = lambda: openvino(python, side, threads)
            run["videoconvertscale"] = lambda: videoconvertscale(side, threads)
            times = {method: [] for method in METHODS}
            for turn in range(arguments.rounds):
                start = turn % len(METHODS)
                for method in METHODS[start:] + METHODS[:start]:
                    times[method].append(run[method]())
            print(f"{side}x{side}, threads {threads}")
            for method in METHODS:
                ratios = [peer / own for peer, own in zip(times[method], times[OURS])]
                ratio = (statistics.median(ratios), min(ratios), max(ratios))
                print(f"  {method:20} {statistics.median(times[method]):8.3f} ms  {'' if method == OURS else peers.spread(ratio)}")
                rows.append([threads, side, method, f"{statistics.median(times[method]):.4f}", *(f"{r:.3f}" for r in ratio)])
            sys.stdout.flush()
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file).writerows([["threads", "side", "method", "ms", "ratio", "least", "largest"], *rows])


if __name__ == "__main__":
    main()
