#!/usr/bin/env python3
"""What a second stream brings, and how much of the time the system takes.

scaling.py BUILD MODEL [--streams N] [--rounds N] [--seconds S]: measures in turns the frames/s of one stream on one core and of N
streams on N cores in float32, and the share of the processes' time that was spent in the kernel. Prints the median and the
spread of
    scaling = frames/s of N streams / frames/s of one
for us, N being the most that can be had. Another program on the cores, or cores that are threads of one, cost both sides alike only
where they take from each in the same way: look at the spread.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess


def bench(build, model, streams, *how_long):
    """(frames/s, user seconds, system seconds) of a process of its own."""
    command = [build / "tools/hetero", "bench", model, "-d", "CPU", "-nstreams", streams, "-nthreads", streams, "-hint", "none", "-infer_precision", "f32",
               "-api", "async", "-cache_dir", "", "-json", *how_long]
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"hetero bench failed on {model}")
    return json.loads(out)["throughput_fps"], usage.ru_utime, usage.ru_stime


def measure(build, model, streams, seconds):
    """(frames/s, share of system time), without what starting and loading take."""
    _, start_user, start_system = bench(build, model, streams, "-niter", 1)
    rate, user, system = bench(build, model, streams, "-t", seconds)
    return rate, max(system - start_system, 0) / (user + system - start_user - start_system)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--streams", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    ratios, system = [], []
    for number in range(arguments.rounds):
        counts = [1, arguments.streams] if number % 2 == 0 else [arguments.streams, 1]
        results = {streams: measure(arguments.build, arguments.model, streams, arguments.seconds) for streams in counts}
        one, many = results[1], results[arguments.streams]
        ratios.append(many[0] / one[0])
        system.append(many[1])
        print(f"round {number + 1}: {one[0]:.1f} and {many[0]:.1f} frames/s, scaling {ratios[-1]:.3f}, in the kernel {one[1]:.2%} and {many[1]:.2%}", flush=True)
    print(f"scaling with {arguments.streams} streams: {statistics.median(ratios):.3f} [{min(ratios):.3f} {max(ratios):.3f}], "
          f"in the kernel {statistics.median(system):.2%} [{min(system):.2%} {max(system):.2%}]")


if __name__ == "__main__":
    main()
