#!/usr/bin/env python3
"""What sharding and starting cost: an archive of one long video in shards beside the whole file, alternately.

    sharding.py BUILD VIDEO MODEL [--model-proc FILE] [--shard 10s] [--times 6] [--rounds 3] [--config KEY=VALUE,...] [--track heterotrack]

VIDEO is put together `--times` times, so that there are several shards. Plans are made before and models compiled into a cache by a first run.
Printed: seconds and processor time of each run, ratios of each round, medians and spread; with --track the overlap of 4 s is part of what is lost.
"""
import statistics

from runs import Archives, arguments, detector_line, long_video


def main():
    parser = arguments(__doc__, "10s", "NUM_STREAMS=1")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--track", default="")
    options = parser.parse_args()
    archives = Archives(options.build)
    video = archives.path / "long.mkv"
    long_video(options.video, video, options.times)
    line = detector_line(options, f"! {options.track}" if options.track else "")
    archives.run(archives.plan("warm", [options.video], line)[0])
    ratios = {"time": [], "processor time": []}
    for turn in range(options.rounds):
        seconds = {}
        for shard in ("whole", options.shard) if turn % 2 == 0 else (options.shard, "whole"):
            folder, scan = archives.plan(shard, [video], line, "--shard", shard)
            seconds[shard] = archives.run(folder)
        for kind, whole, cut in zip(ratios, seconds["whole"], seconds[options.shard]):
            ratios[kind].append(cut / whole)
        shards = len(list((archives.path / options.shard / "notes").iterdir()))
        print(f"whole {seconds['whole'][0]:.2f} s, {shards} shards of {options.shard} {seconds[options.shard][0]:.2f} s: ratio {ratios['time'][-1]:.3f}, "
              f"processor time {seconds['whole'][1]:.2f} and {seconds[options.shard][1]:.2f} s: {ratios['processor time'][-1]:.3f}", flush=True)
    print(f"scan {scan:.2f} s")
    for kind, values in ratios.items():
        print(f"{kind} lost to sharding: {100 * (statistics.median(values) - 1):.1f} % ({100 * (min(values) - 1):.1f} to {100 * (max(values) - 1):.1f} %)")


if __name__ == "__main__":
    main()
