#!/usr/bin/env python3
"""What sharding and starting cost: an archive of one long video in shards beside the whole file, alternately.

    sharding.py BUILD VIDEO MODEL [--model-proc FILE] [--shard 10s] [--times 6] [--rounds 3] [--config KEY=VALUE,...] [--track heterotrack]

VIDEO is put together `--times` times, so that there are several shards. Plans are made before and models compiled into a cache by a first run.
Printed: seconds of each run, the ratio of each round, its median and spread; with --track the overlap of 2 s is part of what is lost.
"""
import argparse
import pathlib
import statistics

from runs import Archives, detector_line, long_video


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("video", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--model-proc")
    parser.add_argument("--shard", default="10s")
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--config", default="NUM_STREAMS=1")
    parser.add_argument("--track", default="")
    options = parser.parse_args()
    archives = Archives(options.build)
    video = archives.path / "long.mkv"
    long_video(options.video, video, options.times)
    line = detector_line(options, f"! {options.track}" if options.track else "")
    archives.run(archives.plan("warm", [options.video], line)[0])
    ratios = []
    for turn in range(options.rounds):
        seconds = {}
        for shard in ("whole", options.shard) if turn % 2 == 0 else (options.shard, "whole"):
            folder, scan = archives.plan(shard, [video], line, "--shard", shard)
            seconds[shard] = archives.run(folder)
        ratios.append(seconds[options.shard] / seconds["whole"])
        shards = len(list((archives.path / options.shard / "notes").iterdir()))
        print(f"whole {seconds['whole']:.2f} s, {shards} shards of {options.shard} {seconds[options.shard]:.2f} s: ratio {ratios[-1]:.3f}", flush=True)
    print(f"scan {scan:.2f} s")
    print(f"lost to sharding: {100 * (statistics.median(ratios) - 1):.1f} % ({100 * (min(ratios) - 1):.1f} to {100 * (max(ratios) - 1):.1f} %)")


if __name__ == "__main__":
    main()
