#!/usr/bin/env python3
"""What the tracer heterometrics costs: cost.py measure SOURCE_ROOT CPU_SECONDS RESULT.csv, then cost.py tell RESULT.csv...

A pair is two runs of the same frames, one with the tracer, which is asked once a second (Prometheus asks every 15 s), one without, in
random order, each after the other. Processor time is the children's, of user and system.
"""
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

BOUND = 1.01
FRAMES = 1500
PORT = 19464


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ask_until(ended):
    """How often it answered."""
    answers = 0
    while not ended.wait(1):
        try:
            answers += b"# EOF" in urllib.request.urlopen(f"http://127.0.0.1:{PORT}/metrics", timeout=5).read()
        except OSError:
            pass  # it has not begun, or has ended
    return answers


def one_run(root, with_tracer):
    """Processor seconds of the frames."""
    models = root / "pipelines/demo/models"
    line = (f"videotestsrc num-buffers={FRAMES} pattern=ball ! video/x-raw,format=NV12,width=1280,height=720 ! queue ! heterodetect threshold=0.3 "
            f"model={models}/scene_detector.onnx model-proc={models}/scene_detector.json ! heterotrack ! heterometaconvert add-empty-results=true "
            f"! heterometapublish file-path=/dev/null ! queue ! fakesink sync=false")
    environment = {**os.environ, "GST_TRACERS": f"heterometrics(port={PORT})" if with_tracer else ""}
    ended, answers = threading.Event(), []
    reader = threading.Thread(target=lambda: answers.append(ask_until(ended)))
    before = cpu_seconds()
    reader.start()
    try:
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], env=environment, check=True, timeout=300)
    finally:
        ended.set()
        reader.join()
    assert (answers[0] > 0) == with_tracer, f"{answers[0]} answers with_tracer={with_tracer}"
    return cpu_seconds() - before


def measure(root, budget, result):
    rows, begin = [], time.monotonic()
    one_run(root, False)  # models and files are in memory
    spent = 0
    while spent < budget or len(rows) < 2:
        order = [True, False]
        random.shuffle(order)
        times = {with_tracer: one_run(root, with_tracer) for with_tracer in order}
        spent += sum(times.values())
        rows.append(f"{times[True]:.3f},{times[False]:.3f}\n")
        print(f"with {times[True]:.2f} s, without {times[False]:.2f} s, {spent:.0f} of {budget} s, {time.monotonic() - begin:.0f} s passed", flush=True)
    result.write_text("".join(rows))


def tell(results):
    pairs = [tuple(map(float, row.split(","))) for result in results for row in result.read_text().splitlines()]
    ratios = sorted(with_tracer / without for with_tracer, without in pairs)
    mean = statistics.mean(ratios)
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    all_seconds = sum(map(sum, pairs))
    print(f"processor time with heterometrics over without: mean {mean:.4f} (standard error {error:.4f}), median {statistics.median(ratios):.4f}, "
          f"from {ratios[0]:.4f} to {ratios[-1]:.4f}, {len(ratios)} pairs, {all_seconds:.0f} s in all; at most {BOUND}")
    sys.exit(mean > BOUND)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]))
    else:
        tell([pathlib.Path(name) for name in sys.argv[2:]])
