#!/usr/bin/env python3
"""Throughput of AsyncInferQueue beside our C++ interface and OpenVINO's AsyncInferQueue.

    async_queue.py BUILD [MODEL ...] [--rounds 5] [--seconds 3] [--alone] [--our-python EXE] [--data ../shared/data] [--venv DIR | --python EXE --openvino-python EXE]

MODEL is a file or a name (default: yolox_nano and resnet50). All with the hint THROUGHPUT in float32. The input is an array that every start_async()
copies, and a callback reads a value of every result; `hetero bench` is the C++ interface, which gives the same input again without a copy. Every round
runs them in turns, in processes of their own. Printed are medians with the least and the most of the rounds; ratios are of one round.
"""
import argparse

import sides

CONFIG = {"PERFORMANCE_HINT": "THROUGHPUT", "INFERENCE_PRECISION_HINT": "f32"}


def bench(both, file, shapes, seconds):
    command = [both.build / "tools/hetero", "bench", file, "-d", "CPU", "-hint", "throughput", "-infer_precision", "f32", "-shape", shapes, "-t", seconds, "-json"]
    return both.program(*command)["throughput_fps"]


def measure_model(both, name, file, arguments):
    settled = both.settle(lambda: both.python("hetero", "queue", file, CONFIG, 0.1))
    both.settle(lambda: bench(both, file, settled["shapes"], 0.1))
    rates = {key: [] for key in ("C++", *both.engines)}
    for number in range(arguments.rounds):
        for key in sides.in_turn(rates, number):
            if key == "C++":
                rates[key].append(bench(both, file, settled["shapes"], arguments.seconds))
            else:
                rates[key].append(both.python(key, "queue", file, CONFIG, arguments.seconds)["rate"])
    print(f"{name}, {settled['requests']} requests")
    print(f"  inferences/s        ours in C++ {sides.figure(rates['C++'], '.1f')}, " + ", ".join(f"{sides.NAMES[e]} in Python {sides.figure(rates[e], '.1f')}" for e in both.engines))
    for key in ("C++", "openvino"):
        if key in rates:
            print(f"  ours in Python over {'ours in C++' if key == 'C++' else 'OpenVINO in Python':18} {sides.figure([a / b for a, b in zip(rates['hetero'], rates[key])], '.3f')}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sides.add_arguments(parser, rounds=5, seconds=3)
    parser.add_argument("models", nargs="*", default=["yolox_nano", "resnet50"])
    arguments = parser.parse_args()
    with sides.sides(arguments) as both:
        for name, file in sides.model_files(arguments, arguments.models).items():
            measure_model(both, name, file, arguments)


if __name__ == "__main__":
    main()
