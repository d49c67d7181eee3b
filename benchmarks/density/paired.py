#!/usr/bin/env python3
"""Numbers of streams one after the other, ours and the peer by turns: for a machine whose speed changes while a search runs.

    paired.py BUILD VIDEO NAME=MODEL,MODEL_PROC ... --streams 4-8 [--rounds 3] [--fps 15] [--p99 200] [--seconds 5] [--json FILE] [--venv DIR]

The pipelines and the peer are those of compare.py. A round goes through the numbers of streams and plays a trial of both sides with each, in
an order that turns, so what slows down one slows down the other. A trial passes where every stream keeps rate and p99 and loses at most 1 %.
A side carries the most streams with which it passes more than half of the trials, as it does with all fewer ones that were tried; in brackets
stands what each round says alone. Printed besides: medians of p99 and of the processor time a frame, and the ratio of the latter of pairs in
which both pass.
"""
import json
import math
import statistics

from sides import SIDES, Sides, arguments


def numbers(text):
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


def passes(trial, options):
    return trial["failed_streams"] == 0 and trial["worst"]["p99_ms"] <= options.p99 and trial["drop"] <= 0.01 and trial["rate"] >= 0.99 * options.fps


def carried(passed):
    """The most streams, of {streams: [whether each round passed]}."""
    most = 0
    for streams, rounds in sorted(passed.items()):
        if 2 * sum(rounds) <= len(rounds):
            break
        most = streams
    return most


def carried_text(side, passed):
    alone = [carried({streams: [rounds[number]] for streams, rounds in passed.items()}) for number in range(len(next(iter(passed.values()))))]
    return f"{side} {carried(passed)} [{' '.join(map(str, sorted(alone)))}]"


def main():
    parser = arguments(__doc__)
    parser.add_argument("--streams", required=True, type=numbers, help="FIRST-LAST")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--p99", type=float, default=200, help="milliseconds")
    parser.add_argument("--hint", default="THROUGHPUT")
    options = parser.parse_args()
    sides = Sides(options)
    rows = []
    for spec in options.models:
        name = spec.partition("=")[0]
        steps = options.streams[::options.step]
        trials = {side: {streams: [] for streams in steps} for side in SIDES}
        for number in range(options.rounds):
            for streams in steps:
                for side in SIDES if (number + streams) % 2 == 0 else SIDES[::-1]:
                    # Judged here: the search goes no further down.
                    result = sides.search(spec, side, options.hint, "--first", streams, "--most", streams, "--confirm", 1, "--p99", "20s", "--drop", 0.99)
                    trials[side][streams].append(result["trials"][0])
                    rows.append({"model": name, "streams": streams, "round": number, "side": side, "trial": result["trials"][0]})
                    if options.json:
                        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
        passed = {side: {streams: [passes(trial, options) for trial in trials[side][streams]] for streams in steps} for side in SIDES}
        for streams in steps:
            print(f"{name}, {streams} streams: " + "; ".join(
                f"{side} passes {sum(passed[side][streams])} of {options.rounds}, p99 {statistics.median(t['worst']['p99_ms'] for t in trials[side][streams]):.0f} ms, "
                f"CPU {statistics.median(t['cpu_ms_per_frame'] for t in trials[side][streams]):.2f} ms a frame" for side in SIDES), flush=True)
        # Of one that does not keep up nothing is known but that.
        ratios = [trials["peer"][streams][number]["cpu_ms_per_frame"] / trials["ours"][streams][number]["cpu_ms_per_frame"]
                  for streams in steps for number in range(options.rounds) if all(passed[side][streams][number] for side in SIDES)] or [math.nan]
        ours, theirs = (carried(passed[side]) for side in SIDES)
        print(f"{name}: {', '.join(carried_text(side, passed[side]) for side in SIDES)}, ratio {ours / max(1, theirs):.2f}; processor time a frame, peer over ours "
              f"{statistics.median(ratios):.2f} [{min(ratios):.2f} {max(ratios):.2f}]", flush=True)


if __name__ == "__main__":
    main()
