#!/usr/bin/env python3
"""How many threads of an application want a core at the same time, on two cores: a decoder with threads, two models,
and what the application does to every frame with OpenCV, an OpenMP team of its own and, with --torch,
PyTorch. With what docs/performance.md says to set they are as many as the cores and at most one that hands results over;
without, those of the CPU device are one more, of three models.

Usage: runnable_threads.py SOURCE_ROOT OPENMP_USER [--torch]. Exit status 77 means skipped, with the reason printed.
"""
import collections
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CORES = 2
SECONDS = 2.0
# What else runs on this machine only adds: it lets threads wait for a core. So the best attempt counts, and one beside which others
# took more than this many of the cores says nothing.
ATTEMPTS = 5
OTHERS = 0.3
# Results are decoded on the thread that computed them, while the next model computes already. Threads that a team has woken at its
# end count, too, until they got a core to fall asleep on.
MEDIAN_TOLERANCE = 1.0
MEAN_TOLERANCE = 1.25
# Models that leave no core may have a thread more than cores. Three that share nothing have 5.3 to 5.6 threads in the mean, half of the
# samples 6; three that share the cores 3.6 to 3.9 and 4.
MODELS_ALONE = 3
ONE_MORE = 1.0
ADVISED = {"OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1"}


def application(video, models, openmp_user, torch, settings):
    """The observed process: plays the video again and again for a little longer than it is observed."""
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    import cv2
    import numpy
    Gst.init(None)
    advised = settings == "advised"
    threads = 1 if advised else CORES
    users = ctypes.CDLL(openmp_user)
    users.sum_of_roots.restype = ctypes.c_double
    users.sum_of_roots.argtypes = [ctypes.c_long, ctypes.c_int]
    picture = numpy.random.randint(0, 255, (720, 1280, 3), numpy.uint8)
    if advised:
        cv2.setNumThreads(1)

    def use_opencv():
        cv2.GaussianBlur(cv2.resize(picture, (640, 360)), (9, 9), 0)

    def use_openmp():
        users.sum_of_roots(300000, threads)

    work = [use_opencv, use_openmp]
    if torch:
        import torch as pytorch
        if advised:
            pytorch.set_num_threads(1)
        image, weights = pytorch.randn(1, 16, 64, 64), pytorch.randn(16, 16, 3, 3)
        work.append(lambda: pytorch.nn.functional.conv2d(image, weights))

    done = 0

    def on_frame(_pad, _info):
        nonlocal done
        if settings != "alone":
            for job in work:
                job()
        done += 1
        return Gst.PadProbeReturn.OK

    properties = "ie-config=SPARE_CORES=1" if advised else ""
    source = f"filesrc location={video} ! qtdemux ! h264parse ! avdec_h264 max-threads={1 if advised else 0}"
    if settings == "alone":  # nothing but the models takes long
        source = "videotestsrc pattern=black ! video/x-raw,format=I420,width=320,height=192"
    detect = f"heterodetect device=CPU model={models}/scene_detector.onnx model-proc={models}/scene_detector.json {properties}"
    count = MODELS_ALONE if settings == "alone" else 2
    pipeline = Gst.parse_launch(f"{source} ! {' ! '.join([detect] * count)} ! fakesink name=sink sync=false")
    pipeline.get_by_name("sink").get_static_pad("sink").add_probe(Gst.PadProbeType.BUFFER, on_frame)
    pipeline.set_state(Gst.State.PLAYING)
    if pipeline.get_state(60 * Gst.SECOND)[0] != Gst.StateChangeReturn.SUCCESS:
        print("the pipeline does not play", file=sys.stderr)
        return 1
    time.sleep(0.5)  # teams and pools are there
    print("plays", flush=True)
    bus = pipeline.get_bus()
    end = time.monotonic() + SECONDS + 0.2
    while time.monotonic() < end:
        message = bus.timed_pop_filtered(50 * Gst.MSECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        if message and message.type == Gst.MessageType.ERROR:
            print(message.parse_error(), file=sys.stderr)
            return 1
        if message:
            pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
    pipeline.set_state(Gst.State.NULL)
    print(f"{done} frames", flush=True)
    return 0 if done > 0 else 1


def runnable(process):
    """Names of the threads of a process that run or wait for a core."""
    names = []
    folder = f"/proc/{process}/task"
    for thread in os.listdir(folder):
        try:
            text = pathlib.Path(folder, thread, "stat").read_text()
        except OSError:  # it has ended
            continue
        end = text.rindex(")")
        if text[end + 2] == "R":
            names.append(text[text.index("(") + 1:end])
    return names


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def all_processor_seconds():
    """Of everything on this machine."""
    user, nice, system, _idle, _iowait, irq, softirq = (int(field) for field in pathlib.Path("/proc/stat").read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def observe(arguments, settings):
    """Samples of what wants a core, a list of names each, how many cores the process and others took, and what it says.
    Settings: default, advised, or alone, which has nothing but the models."""
    environment = {key: value for key, value in os.environ.items() if key not in ADVISED and key != "GST_TRACERS"}
    if settings == "advised":
        environment.update(ADVISED)
    command = [sys.executable, __file__, "--application", *arguments, settings]
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, cores)) as process:
        started = process.stdout.readline()
        samples = []
        begin, used, all_used = time.monotonic(), processor_seconds(process.pid), all_processor_seconds()
        end = begin + SECONDS
        while started == "plays\n" and time.monotonic() < end and process.poll() is None:
            samples.append(runnable(process.pid))
            time.sleep(0.002)
        own = others = 0.0
        if process.poll() is None:
            seconds = time.monotonic() - begin
            own = (processor_seconds(process.pid) - used) / seconds
            others = max((all_processor_seconds() - all_used) / seconds - own, 0.0)
        told = process.stdout.read().strip()
        if process.wait() != 0 or not samples:
            raise SystemExit(f"the observed process failed: {started}{told}")
    return samples, own, others, told


def describe(what, samples, own, others, told, more=0.0):
    counts = sorted(len(names) for names in samples)
    mean, median = sum(counts) / len(counts), counts[len(counts) // 2]
    each = collections.Counter(name for names in samples for name in names)
    parts = ", ".join(f"{name} {number / len(samples):.2f}" for name, number in each.most_common(6))
    print(f"{what}: mean {mean:.2f}, median {median}, most {counts[-1]} ({own:.2f} cores, others {others:.2f}; {told}; {parts})", flush=True)
    return median <= CORES + more + MEDIAN_TOLERANCE and mean <= CORES + more + MEAN_TOLERANCE


def ours(samples):
    """The threads of the CPU device alone: the streams' and those of their teams, which inherit the name."""
    return [[name for name in names if name.startswith("CPU.")] for names in samples]


def holds(what, measure, more=0.0):
    """Whether one of some attempts keeps to the cores and `more` threads; None where other programs have them."""
    failed = False
    for _ in range(ATTEMPTS):
        samples, own, others, told = measure()
        if describe(what, samples, own, others, told, more):
            return True
        failed = failed or others <= OTHERS
    if failed:
        print(f"FAILED: {what}: more threads want to run than {CORES} cores allow")
        return False
    print(f"skipped: {what}: other programs took more than {OTHERS} cores")
    return None


def main():
    if sys.argv[1] == "--application":
        video, models, openmp_user, torch, settings = sys.argv[2:7]
        return application(video, models, openmp_user, torch == "torch", settings)
    root, openmp_user = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
    if "HET_PRELOAD" in os.environ:
        print("skipped: a sanitizer's threads would be counted, too")
        return 77
    if len(os.sched_getaffinity(0)) < CORES:
        print(f"skipped: this process may use less than {CORES} cores")
        return 77
    try:
        import cv2  # noqa: F401
        import gi  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}; python3-opencv and python3-gi are needed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        video = pathlib.Path(folder) / "video.mp4"
        subprocess.run(["gst-launch-1.0", "-q", *("videotestsrc num-buffers=200 pattern=ball ! video/x-raw,format=I420,width=640,height=360,"
                        f"framerate=25/1 ! x264enc speed-preset=ultrafast ! h264parse ! mp4mux ! filesink location={video}").split()], check=True, timeout=120)
        arguments = [str(video), str(root / "pipelines/demo/models"), str(openmp_user), "torch" if "--torch" in sys.argv else "no torch"]
        # For comparison: what nobody has told how many cores there are for it.
        describe("as it comes, all", *observe(arguments, "default"))

        def ours_alone():
            samples, own, others, told = observe(arguments, "alone")
            return ours(samples), own, others, told

        passed = [holds("as advised, all", lambda: observe(arguments, "advised")),
                  holds("three models as they come, the CPU device's", ours_alone, ONE_MORE)]
    return 1 if False in passed else 77 if None in passed else 0


if __name__ == "__main__":
    sys.exit(main())
