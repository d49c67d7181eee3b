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
import json
import statistics

from sides import SIDES, Sides, arguments


def main():
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--p99", default="200ms")
    parser.add_argument("--first", type=int, default=8, help="streams of the first trial of each search")
    parser.add_argument("--hints", nargs="+", default=["THROUGHPUT", "LATENCY"], help="values of PERFORMANCE_HINT that the first round tries")
    parser.add_argument("--at", type=int, help="no search: processor time a frame with so many streams, for a machine that others use, too")
    options = parser.parse_args()
    sides = Sides(options)
    extent = ["--first", options.at, "--most", options.at, "--confirm", 1, "--p99", "20s"] if options.at else ["--first", options.first, "--p99", options.p99, "--most-others", 0.15]
    rows = []

    for text in options.models:
        name = text.partition("=")[0]
        streams = {side: {hint: [] for hint in options.hints} for side in SIDES}
        for number in range(options.rounds):
            turns = [(side, hint) for hint in options.hints for side in SIDES if hint in streams[side]]
            for side, hint in turns if number % 2 == 0 else turns[::-1]:
                result = sides.search(text, side, hint, *extent)
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
            cost = {side: [row["result"]["trials"][0]["cpu_ms_per_frame"] for row in rows if (row["model"], row["side"]) == (name, side)] for side in SIDES}
            ratios = [theirs / ours for ours, theirs in zip(cost["ours"], cost["peer"])]
            print(f"{name}: CPU ms a frame " + ", ".join(f"{side} {statistics.median(c):.2f} [{min(c):.2f} {max(c):.2f}]" for side, c in cost.items())
                  + f", peer over ours {statistics.median(ratios):.2f} [{min(ratios):.2f} {max(ratios):.2f}]", flush=True)
            continue
        text = []
        for side, ((hint, counts),) in ((side, hints.items()) for side, hints in streams.items()):
            text.append(f"{side} ({hint}) {statistics.median(counts):g} [{min(counts)} {max(counts)}]")
        ours, theirs = (statistics.median(next(iter(streams[side].values()))) for side in SIDES)
        print(f"{name}: {', '.join(text)}, ratio {ours / max(1, theirs):.2f}", flush=True)


if __name__ == "__main__":
    main()
