"""The processor, and what it multiplies at best."""
import json
import os
import pathlib

from processes import Failure, execute
from recorded import processor

WORDS = {"avx2": "AVX2", "avx_vnni": "AVX-VNNI", "avx512f": "AVX-512", "avx512_vnni": "VNNI", "avx512_bf16": "bf16", "amx_tile": "AMX", "asimd": "NEON"}


def describe(cores):
    name, flags = processor()
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    numbers = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return {"processor": name, "family": numbers.get("cpu family", "?"), "model": numbers.get("model", "?"), "cores": cores,
            "instructions": [word for flag, word in WORDS.items() if flag in flags]}


def release():
    """Name and version of the system."""
    system = dict(line.partition("=")[::2] for line in pathlib.Path("/etc/os-release").read_text().splitlines())
    return system.get("PRETTY_NAME", "?").strip('"') + ", Linux " + ".".join(os.uname().release.split(".")[:2])


def measure_peaks(build, folder):
    """(what bench_cpu_peak prints, or None and why). The highest of all runs on this processor, which `folder` remembers, since other programs lower a peak."""
    program = build / "benchmarks/cpu_peak/bench_cpu_peak"
    if not program.exists():
        return None, f"no shares of the peak: {program} is not built (meson configure {build} -Dbenchmarks=true)"
    try:
        peaks = json.loads(execute([program]), parse_float=lambda text: round(float(text), 1))
    except Failure as failure:
        return None, f"no shares of the peak: {program} {failure}"
    known, file = {}, folder / "peaks.json"
    if file.exists():
        known = json.loads(file.read_text(encoding="utf-8"))
    key = " ".join(map(str, describe(peaks["cores"]).values()))
    known[key] = highest(known.get(key), peaks)
    file.write_text(json.dumps(known), encoding="utf-8")
    return known[key], ""


def highest(before, peaks):
    """Of two measurements of the same processor: a program beside one makes it less, nothing makes it more."""
    if not before or not peaks:
        return before or peaks
    return {key: {**value, **{n: max(value[n], before[key][n]) for n in ("one", "all")}} if isinstance(value, dict) and key in before else value for key, value in peaks.items()}
