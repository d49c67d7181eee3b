#!/usr/bin/env python3
"""The prediction of `hetero archive predict` beside what 1, 2, 3 nodes take.

    nodes.py BUILD VIDEO MODEL [--model-proc FILE] [--shard 5s] [--times 6] [--nodes 1,2,3] [--rounds 1] [--config KEY=VALUE,...] [--wait MS]

A node is a process of this machine with a processor of its own, so there can be as many as processors, with one thread each; those that no node
has do the same work besides, for processors share cores, caches and their clock. With --wait the pipeline computes nothing: each frame waits MS
as for an accelerator, and nodes are as many as one likes; that tests the dealing out, the start and the counting, not the processor. In each
round one node's run is measured, the others are predicted from its notes and then run. Fails where the median of a prediction is more than
15 % off.
"""
import contextlib
import os
import statistics
import sys

from runs import Archives, arguments, detector_line, long_video


def waiting_line(milliseconds):
    return (f"filesrc location={{video}} ! decodebin ! identity sleep-time={milliseconds * 1000} ! heterometaconvert add-empty-results=true "
            f"! heterometapublish file-path={{output}} file-format=json-lines ! fakesink").split()


def main():
    parser = arguments(__doc__, "5s", "NUM_STREAMS=1,INFERENCE_NUM_THREADS=1")
    parser.add_argument("--nodes", default="1,2,3")
    parser.add_argument("--rounds", type=int, default=1)
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
    neighbour, _ = archives.plan("neighbour", [video], line, *shard)

    def run(folder, count):
        """What is left for neighbours they take, so that a processor is as fast for one node as for all."""
        with archives.neighbours(neighbour, count) if bound else contextlib.nullcontext():
            return archives.run(folder, count, bound)[0]

    off = {count: [] for count in nodes}
    for number in range(options.rounds):
        measured, _ = archives.plan("measured", [video], line, *shard)
        run(measured, 1)
        # Nothing is left to do there: what remains is the start of the command.
        start = min(archives.run(measured, bound=bound)[0] for _ in range(3))
        predicted = archives.predict(measured, [*nodes, 1000], "--task-start", f"{start:.3f}s")
        *few, many = predicted.pop("nodes")
        print(f"round {number}: {predicted}")
        for node in few:
            took = run(archives.plan("run", [video], line, *shard)[0], node["nodes"])
            off[node["nodes"]].append(node["processing_seconds"] / took - 1)
            print(f"{node['nodes']} nodes: predicted {node['processing_seconds']:.2f} s, took {took:.2f} s, {100 * off[node['nodes']][-1]:+.1f} %; limit: {node['limit']}", flush=True)
        print(f"1000 nodes: {many['processing_seconds']:.2f} s, {many['idle_nodes']} without a shard; limit: {many['limit']}")
    for count, values in off.items():
        print(f"{count} nodes: predicted {100 * statistics.median(values):+.1f} % ({100 * min(values):+.1f} to {100 * max(values):+.1f} %)")
    sys.exit(any(abs(statistics.median(values)) > 0.15 for values in off.values()))


if __name__ == "__main__":
    main()
