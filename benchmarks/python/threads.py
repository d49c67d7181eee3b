#!/usr/bin/env python3
"""What a second thread of Python brings: two threads on two single-thread streams over one on one.

    threads.py BUILD [MODEL ...] [--rounds 5] [--seconds 3] [--alone] [--our-python EXE] [--data ../shared/data] [--venv DIR | --python EXE --openvino-python EXE]

MODEL is a file or a name (default: mobilenet_v2, yolox_nano, resnet50 and ultraface_rfb_320). Each thread calls infer() of a request of its own, with
shared memory, in float32. Every round runs one and two threads of ours and OpenVINO's in turns, in processes of their own. Printed are medians with the
least and the most of the rounds of
    scaling = inferences/s of two threads (NUM_STREAMS=2, INFERENCE_NUM_THREADS=2) / those of one (1, 1)
which shows whether the interpreter's lock is held while a model runs. It needs two cores.
"""
import argparse
import os
import statistics

import sides


def config(threads):
    return {"NUM_STREAMS": str(threads), "INFERENCE_NUM_THREADS": str(threads), "INFERENCE_PRECISION_HINT": "f32"}


def measure_model(both, name, file, arguments):
    for threads in (1, 2):
        both.settle(lambda threads=threads: both.python("hetero", "threads", file, config(threads), 0.1))
    rates = {(engine, threads): [] for engine in both.engines for threads in (1, 2)}
    for number in range(arguments.rounds):
        for engine, threads in sides.in_turn(rates, number):
            rates[engine, threads].append(both.python(engine, "threads", file, config(threads), arguments.seconds)["rate"])
    line = f"{name:20}"
    for engine in both.engines:
        one, two = rates[engine, 1], rates[engine, 2]
        scaling = sides.figure([b / a for a, b in zip(one, two)])
        line += f"  {sides.NAMES[engine]}: {statistics.median(one):7.1f} and {statistics.median(two):7.1f} inferences/s, scaling {scaling}"
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sides.add_arguments(parser, rounds=5, seconds=3)
    parser.add_argument("models", nargs="*", default=["mobilenet_v2", "yolox_nano", "resnet50", "ultraface_rfb_320"])
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        print(f"# {cores} core: two threads share it")
    with sides.sides(arguments) as both:
        for name, file in sides.model_files(arguments, arguments.models).items():
            measure_model(both, name, file, arguments)


if __name__ == "__main__":
    main()
