#!/usr/bin/env python3
"""Packed weights mapped from CACHE_DIR (WEIGHT_SHARING=MACHINE) beside those of each process, in turns.

    shared_weights.py BUILD MODEL... [--rounds 60] [--precision f32] [--threads N] [--folder FOLDER]

Per model, each way in a process of its own (through the C interface):
    compile     s: private, packing and writing the file, mapping it; medians of three
    latency     speed of mapped weights over private ones. Both processes live at the same time and take turns of a few
                executions, so that what else runs meets both alike; the medians of all executions, the fastest tenth
                of them, and the spread of the rounds' ratios (their quartiles)
    throughput  the same with a request on each of as many streams as there are threads
    memory      MiB (PSS of /proc/PID/smaps_rollup, after some executions): one process and two, and two over one
"""
import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


class Property(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


def serve(library, model, properties, streams):
    """A line on stdin: so many executions of each stream's request; their milliseconds go to stdout."""
    het = ctypes.CDLL(library)
    het.het_last_error.restype = ctypes.c_char_p

    def call(name, *arguments):
        if getattr(het, name)(*arguments) != 0:
            raise SystemExit(f"{name}: {het.het_last_error().decode()}")

    core, read, compiled = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    call("het_core_open", ctypes.byref(core))
    call("het_core_read_model", core, model.encode(), ctypes.byref(read))
    pairs = (Property * len(properties))(*[Property(ctypes.sizeof(Property), name.encode(), value.encode()) for name, value in properties.items()])
    begin = time.monotonic()
    call("het_core_compile_model", core, read, b"CPU", pairs, ctypes.c_size_t(len(pairs)), None, ctypes.byref(compiled))
    print(time.monotonic() - begin, flush=True)
    het.het_model_release(read)
    requests = [ctypes.c_void_p() for _ in range(streams)]
    for request in requests:
        call("het_compiled_model_create_request", compiled, ctypes.byref(request))
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            begin = time.monotonic()
            for request in requests:
                call("het_request_start_async", request)
            for request in requests:
                call("het_request_wait", request, ctypes.c_int64(-1))
            times.append(1000 * (time.monotonic() - begin))
        print(json.dumps(times), flush=True)


class Process:
    def __init__(self, options, folder, model, mode, streams=1):
        properties = {"WEIGHT_SHARING": mode, "CACHE_DIR": str(folder), "INFERENCE_PRECISION_HINT": options.precision,
                      "INFERENCE_NUM_THREADS": str(options.threads), "NUM_STREAMS": str(streams)}
        library = str(options.build / "libhetinference-1.0.so")
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", library, model, json.dumps(properties), str(streams)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.compile_s = json.loads(self.answer())

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process ended early")
        return line

    def run(self, count):
        """Milliseconds of each execution; the first one, which finds cold caches, does not count."""
        self.process.stdin.write(f"{count + 1}\n")
        self.process.stdin.flush()
        return json.loads(self.answer())[1:]

    def pss_mib(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def compile_times(options, folder, model):
    times = {"private": [], "packed": [], "mapped": []}
    with Process(options, folder, model, "NO"):
        pass  # choices are measured
    for _ in range(3):
        for file in folder.glob("cpu-*.model"):
            file.unlink()
        for what, mode in (("private", "NO"), ("packed", "MACHINE"), ("mapped", "MACHINE")):
            with Process(options, folder, model, mode) as process:
                times[what].append(process.compile_s)
    return ", ".join(f"{what} {statistics.median(all_times):.2f} s" for what, all_times in times.items())


def speed(options, folder, model, streams):
    with Process(options, folder, model, "NO", streams) as private, Process(options, folder, model, "MACHINE", streams) as mapped:
        times, ratios = {private: [], mapped: []}, []
        for i in range(options.rounds):
            turn = {process: process.run(3) for process in ((private, mapped) if i % 2 else (mapped, private))}
            ratios.append(statistics.median(turn[private]) / statistics.median(turn[mapped]))
            for process, more in turn.items():
                times[process] += more
    medians = [statistics.median(times[process]) for process in (private, mapped)]
    fastest = [statistics.quantiles(times[process], n=10)[0] for process in (private, mapped)]
    quartiles = statistics.quantiles(ratios, n=4)
    return (f"{medians[0] / medians[1]:.3f} ({medians[0]:.2f} and {medians[1]:.2f} ms), fastest tenth {fastest[0] / fastest[1]:.3f}, "
            f"rounds [{quartiles[0]:.3f} {quartiles[2]:.3f}]")


def memory(options, folder, model, mode):
    with Process(options, folder, model, mode) as first:
        first.run(5)
        one = first.pss_mib()
        with Process(options, folder, model, mode) as second:
            second.run(5)
            first.run(5)
            two = first.pss_mib() + second.pss_mib()
    return f"one {one:.0f} MiB, two {two:.0f} MiB: {two / one:.2f}"


def measure(options, model):
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        print(f"{pathlib.Path(model).stem} in {options.precision}, {options.threads} threads")
        print("  compile    " + compile_times(options, folder, model), flush=True)
        print("  file       " + ", ".join(f"{file.stat().st_size / 2**20:.0f} MiB" for file in folder.glob("cpu-*.model")), flush=True)
        print("  latency    " + speed(options, folder, model, 1), flush=True)
        print("  throughput " + speed(options, folder, model, options.threads), flush=True)
        print("  private    " + memory(options, folder, model, "NO"), flush=True)
        print("  mapped     " + memory(options, folder, model, "MACHINE"), flush=True)


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], sys.argv[3], json.loads(sys.argv[4]), int(sys.argv[5]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).absolute())
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--precision", default="f32")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", help="on whose file system CACHE_DIR is to be, by default the temporary one")
    options = parser.parse_args()
    for model in options.models:
        measure(options, model)


if __name__ == "__main__":
    main()
