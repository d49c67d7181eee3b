#!/usr/bin/env python3
"""The prediction of `hetero archive predict` beside what 1, 2, 3 nodes take.

    nodes.py BUILD VIDEO MODEL [--model-proc FILE] [--shard 5s] [--times 6] [--nodes 1,2,3] [--config KEY=VALUE,...] [--wait MS]

A node is a process of this machine with a processor of its own, so there can be as many as processors, with one thread each. With --wait the
pipeline computes nothing: each frame waits MS as for an accelerator, and nodes are as many as one likes; that tests the dealing out, the start and
the counting, not the processor. One node's run is measured, the others are predicted from its notes and then run. Fails where a prediction is more
than 15 % off.
"""
import argparse
import os
import pathlib
import sys

from runs import Archives, detector_line, long_video


def waiting_line(milliseconds):
    return (f"filesrc location={{video}} ! decodebin ! identity sleep-time={milliseconds * 1000} ! heterometaconvert add-empty-results=true "
            f"! heterometapublish file-path={{output}} file-format=json-lines ! fakesink").split()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("video", type=pathlib.Path)
    parser.add_argument("model")
    parser.add_argument("--model-proc")
    parser.add_argument("--shard", default="5s")
    parser.add_argument("--times", type=int, default=6)
    parser.add_argument("--nodes", default="1,2,3")
    parser.add_argument("--config", default="NUM_STREAMS=1,INFERENCE_NUM_THREADS=1")
    parser.add_argument("--wait", type=int, default=0)
    options = parser.parse_args()
    archives = Archives(options.build)
    video = archives.path / "long.mkv"
    long_video(options.video, video, options.times)
    line = waiting_line(options.wait) if options.wait else detector_line(options)
    bound = not options.wait
    shard = ["--shard", options.shard]
    most = len(os.sched_getaffinity(0)) if bound else 1000
    nodes = [count for count in map(int, options.nodes.split(",")) if count <= most]
    archives.run(archives.plan("warm", [options.video], line)[0], bound=bound)
    measured, _ = archives.plan("measured", [video], line, *shard)
    archives.run(measured, bound=bound)
    # Nothing is left to do there: what remains is the start of the command.
    start = min(archives.run(measured, bound=bound) for _ in range(3))
    predicted = archives.predict(measured, nodes, "--task-start", f"{start:.3f}s")
    print({key: value for key, value in predicted.items() if key != "nodes"})
    worst = 0
    for node in predicted["nodes"]:
        folder, _ = archives.plan("run", [video], line, *shard)
        took = archives.run(folder, node["nodes"], bound=bound)
        off = node["processing_seconds"] / took - 1
        worst = max(worst, abs(off))
        print(f"{node['nodes']} nodes: predicted {node['processing_seconds']:.2f} s, took {took:.2f} s, {100 * off:+.1f} %; limit: {node['limit']}", flush=True)
    for node in archives.predict(measured, [1000], "--task-start", f"{start:.3f}s")["nodes"]:
        print(f"1000 nodes: {node['processing_seconds']:.2f} s, {node['idle_nodes']} without a shard; limit: {node['limit']}")
    sys.exit(worst > 0.15)


if __name__ == "__main__":
    main()
