#!/usr/bin/env python3
"""A trial of OpenCV's decoding with OpenVINO, as `hetero density --program` orders it: peer.py VIDEO MODEL THRESHOLD HINT [PRECISION].

Order on standard input, report on standard output (serving/density/README.md). A thread a stream with cv2.VideoCapture, which decodes with
one thread, and cv2.resize; one compiled model with PERFORMANCE_HINT=HINT and one AsyncInferQueue for all streams; boxes in numpy and
cv2.dnn.NMSBoxes (peer_stages.py). A stream's thread reads frame k when it is due, at its base + k / fps, or as soon after as it can.
"""
import json
import os
import pathlib
import resource
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "pipeline"))
import cv2
import openvino
import peer_stages

SETTLE_S = 0.3


class Stream:
    """One video: when its frames are due and when their objects were there."""

    def __init__(self, index, order, video):
        self.index, self.fps, self.video = index, order["fps"], video
        self.base, self.next = None, 0
        self.arrivals = []
        self.played = threading.Event()
        self.lock = threading.Lock()

    def measure(self, base, begin, end):
        with self.lock:
            self.base, self.next, self.begin, self.end = base, 0, begin, end
            self.arrivals = []

    def turn(self, stop):
        """Waits for the next frame's due time and returns it; None after the end."""
        while not stop.is_set():
            with self.lock:
                if self.base is None:
                    self.base, self.begin, self.end = time.monotonic(), 0, 0
                due = self.base + self.next / self.fps
                wait = due - time.monotonic()
                if wait <= 0:
                    self.next += 1
                    return due
            time.sleep(min(wait, 0.1))
        return None

    def arrive(self, due):
        now = time.monotonic()
        self.played.set()
        if self.begin <= due < self.end:
            self.arrivals.append((due - self.begin, (now - due) * 1000))

    def lag(self):
        return time.monotonic() - (self.base + self.next / self.fps)

    def report(self, end):
        first = max(0, int((self.begin - self.base) * self.fps) - 2)
        due = 0
        while self.base + first / self.fps < end:
            due += self.base + first / self.fps >= self.begin
            first += 1
        arrivals = [a for a in list(self.arrivals) if self.begin + a[0] < end]
        return {"due": due, "due_s": [a[0] for a in arrivals], "latency_ms": [a[1] for a in arrivals]}


def frames(stream, stop):
    """Pairs of due time and picture; the video begins anew at its end."""
    capture = cv2.VideoCapture(stream.video, cv2.CAP_FFMPEG, [cv2.CAP_PROP_N_THREADS, 1])
    while (due := stream.turn(stop)) is not None:
        there, frame = capture.read()
        if not there:
            capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            there, frame = capture.read()
            if not there:
                raise SystemExit(f"cannot read {stream.video} anew")
        yield due, frame


def used_s():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def resident_mib():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def main():
    video, model, threshold, hint, *precision = sys.argv[1:]
    order = json.load(sys.stdin)
    cv2.setNumThreads(1)
    detector = peer_stages.Detector(model, precision[0] if precision else "", float(threshold), hint)
    queue = openvino.AsyncInferQueue(detector.compiled)
    starting, stop = threading.Lock(), threading.Event()

    def done(request, user):
        stream, due, scale = user
        detector.objects(request, scale)
        stream.arrive(due)

    queue.set_callback(done)
    streams = [Stream(i, order, video) for i in range(order["streams"])]

    def run(stream):
        for due, frame in frames(stream, stop):
            tensor, scale = detector.input(frame)
            with starting:
                queue.start_async(tensor, (stream, due, scale), share_inputs=True)

    for stream in streams:
        threading.Thread(target=run, args=(stream,), daemon=True).start()
    for stream in streams:
        stream.played.wait(120)
    base = time.monotonic() + SETTLE_S
    begin = base + order["warmup_s"]
    end = begin + order["window_s"]
    for stream in streams:
        stream.measure(base + stream.index / (order["fps"] * len(streams)), begin, end)
    time.sleep(max(0, begin - time.monotonic()))
    before, ended_early = used_s(), False
    while time.monotonic() < end:
        time.sleep(0.05)
        if time.monotonic() > begin + 1 and any(s.lag() > order["hopeless_s"] for s in streams):
            end, ended_early = time.monotonic(), True
    cpu, memory = used_s() - before, resident_mib()
    limit = time.monotonic() if ended_early else end + order["lost_after_s"]
    while time.monotonic() < limit and any(len(s.arrivals) < s.report(end)["due"] for s in streams):
        time.sleep(0.02)
    stop.set()
    report = {"window_s": end - begin, "streams": [s.report(end) for s in streams], "cpu_s": cpu, "memory_mib": memory, "ended_early": ended_early,
              "notes": [f"{len(queue)} requests, OpenVINO {openvino.__version__}, OpenCV {cv2.__version__}"]}
    print(json.dumps(report), flush=True)
    os._exit(0)  # OpenVINO's threads and Python's end aborts the process now and then


if __name__ == "__main__":
    main()
