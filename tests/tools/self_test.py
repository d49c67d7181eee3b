#!/usr/bin/env python3
"""hetero devices --self-test on this machine, on broken drivers and without any: self_test.py HETERO ROOT CASE.

GPU is OpenCL on a CPU here (PoCL); drivers that crash, hang or compute wrongly are the layers of tests/opencl_layer over it.
"""
import getpass
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

from hetero_cli import expect, run_case

CASES = {}
BUILD = pathlib.Path(os.environ.get("HET_BUILD_ROOT", "."))
# What the task allows for all of it, on any machine.
MOST_SECONDS = 120


def case(function):
    CASES[function.__name__] = function
    return function


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


class Report:
    """One run: its JSON, its text and what it took."""

    def __init__(self, hetero, folder, *arguments, status=0, environment=None, before=()):
        file = folder / "report.json"
        file.unlink(missing_ok=True)
        start = time.monotonic()
        done = subprocess.run([*before, hetero.program, "devices", "--self-test", "--json", str(file), *arguments], capture_output=True, text=True,
                              timeout=2 * MOST_SECONDS, env={**os.environ, "HETERO_GPU_ALLOW_CPU": "1", **(environment or {})})
        self.seconds = time.monotonic() - start
        self.text = done.stdout
        self.progress = done.stderr
        assert done.returncode == status, f"exit status {done.returncode}, {status} expected\n{done.stdout}\n{done.stderr[-2000:]}"
        assert self.seconds < MOST_SECONDS, f"it took {self.seconds:.0f} s"
        self.raw = file.read_text(encoding="utf-8")
        self.json = json.loads(self.raw)
        assert self.json["right"] == (status == 0), self.json["verdicts"]

    def verdict(self, device):
        return next(row["text"] for row in self.json["verdicts"] if row["device"] == device)

    def device(self, name):
        return next((device for device in self.json["devices"] if device["device"] == name), None)

    def outcomes(self, name):
        return {row["case"]: row["outcome"] for row in self.device(name)["correctness"]["cases"]}


def with_layer(name, **variables):
    path = BUILD / "tests/opencl_layer" / f"{name}_layer.so"
    assert path.is_file(), f"{path} is not built"
    return {"OPENCL_LAYERS": str(path), **{key: str(value) for key, value in variables.items()}}


def needs_gpu(hetero, environment=None):
    """OpenCL with a device, and a loader that takes layers where the case wants one."""
    done = subprocess.run([hetero.program, "devices"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HETERO_GPU_ALLOW_CPU": "1", **(environment or {})})
    if "GPU_FEATURES" not in done.stdout:
        skip("OpenCL finds no device")


def needs_layers(hetero):
    environment = with_layer("surface", HET_LAYER_EXTENSIONS="cl_khr_external_memory_dma_buf")
    needs_gpu(hetero, environment)
    done = subprocess.run([hetero.program, "devices"], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HETERO_GPU_ALLOW_CPU": "1", **environment})
    if "DMA-BUF: cl_khr_external_memory_dma_buf" not in done.stdout:
        skip("the OpenCL loader knows no layers (ocl-icd 2.3 does)")


@case
def complete(hetero, folder):
    """All sections, for every device; nothing of them names this host or this user."""
    needs_gpu(hetero)
    report = Report(hetero, folder)
    everything = report.json
    assert set(everything) == {"self_test", "platform", "opencl", "devices", "missing", "asked_for", "pictures", "verdicts", "right", "seconds"}, set(everything)
    platform = everything["platform"]
    for key in ("hetero", "system", "kernel", "architecture", "processor", "instruction_sets", "quota", "memory_quota"):
        assert platform[key], key
    assert platform["cores"] >= 1 and platform["numa_nodes"] >= 1 and platform["memory_bytes"] > 2**28, platform
    for device in everything["opencl"]["devices"]:
        assert {"cl_khr_fp16", "cl_khr_integer_dot_product", "cl_khr_subgroups", "cl_khr_command_buffer", "cl_khr_external_memory_dma_buf",
                "cl_intel_va_api_media_sharing"} <= {feature["name"] for feature in device["features"]}, device
    for name in ("CPU", "GPU"):
        outcomes = report.outcomes(name)
        assert len(outcomes) == 17 and set(outcomes.values()) <= {"right", "refused"}, outcomes
        speed = report.device(name)["speed"]
        limits = speed["limits"]
        assert limits["multiply_adds"]["f32"] > 0.1 and limits["copy_gbytes"] > 0.1 and limits["read_gbytes"] > 0.1, limits
        assert len(speed["work"]) == 3 and all(0.001 < work["share"] < 8 for work in speed["work"]), speed
        assert speed["smallest_inference_us"] > 0, speed
        imports = {row["memory"]: row["outcome"] for row in everything["pictures"]["imports"] if row["device"] == name}
        assert imports["host memory"] == "right" and set(imports) == {"host memory", "VA surface", "DMA-BUF"}, imports
        expect(report.verdict(name), "right")
    gpu = report.device("GPU")["speed"]["limits"]
    assert gpu["launch_us"] > 0 and gpu["launch_and_wait_us"] > 0 and gpu["to_device_gbytes"] > 0.1 and gpu["from_device_gbytes"] > 0.1, gpu
    assert set(report.outcomes("CPU").values()) == {"right"}, report.outcomes("CPU")
    expect(report.verdict("VPU"), "none")
    longest = max(report.text.splitlines(), key=len)
    assert len(longest) <= 100, longest
    expect(report.progress, "CPU: convolution 3x3", "GPU: timing a matrix product")
    for word in (socket.gethostname(), getpass.getuser()):
        assert len(word) < 3 or word in ("root", "localhost") or word not in report.raw, word


@case
def private_names(hetero, folder):
    """Folders and names of a user, in what drivers and loaders say, too."""
    home = folder / "home-of-alice"
    vendors = home / "vendors"
    vendors.mkdir(parents=True)
    (vendors / "own.icd").write_text(f"{home}/alice_driver.so\n", encoding="utf-8")
    (vendors / "other.icd").write_text("/data/alice/driver.so\n", encoding="utf-8")
    report = Report(hetero, folder, environment={"HOME": str(home), "USER": "alice", "OCL_ICD_VENDORS": str(vendors)})
    for word in ("home-of-alice", "/data", "/alice/", str(folder)):
        assert word not in report.raw and word not in report.text.replace(str(folder / "report.json"), ""), word
    expect(report.raw, "own.icd", "alice_driver.so", "(folder)/driver.so")


@case
def without_opencl(hetero, folder):
    empty = folder / "vendors"
    empty.mkdir()
    report = Report(hetero, folder, environment={"OCL_ICD_VENDORS": str(empty)})
    expect(report.verdict("GPU"), "no OpenCL driver was found", "install")
    assert report.device("GPU") is None and report.json["opencl"]["devices"] == [], report.json["opencl"]
    expect(report.verdict("CPU"), "right")


@case
def broken_icd(hetero, folder):
    """One that names a library that is missing, one that names a text file, an empty one."""
    vendors = folder / "vendors"
    vendors.mkdir()
    text = folder / "driver.so"
    text.write_text("this is no library, whatever its name says\n" * 10, encoding="utf-8")
    (vendors / "missing.icd").write_text("libhet_no_such_driver.so.1\n", encoding="utf-8")
    (vendors / "text.icd").write_text(f"{text}\n", encoding="utf-8")
    (vendors / "empty.icd").write_text("", encoding="utf-8")
    report = Report(hetero, folder, environment={"OCL_ICD_VENDORS": str(vendors)})
    expect(report.verdict("GPU"), "no OpenCL driver loads", "missing.icd", "libhet_no_such_driver.so.1", "text.icd", "empty.icd", "install its package again")
    problems = {driver["file"]: driver["problem"] for driver in report.json["opencl"]["drivers"]}
    expect(problems["missing.icd"], "No such file")
    expect(problems["text.icd"], "invalid ELF header")
    expect(problems["empty.icd"], "names no library")


@case
def wrong_results(hetero, folder):
    needs_layers(hetero)
    report = Report(hetero, folder, status=1, environment=with_layer("faulty", HET_LAYER_WRONG=5))
    expect(report.verdict("GPU"), "WRONG RESULTS in", "do not use it", "send the report")
    assert "wrong" in report.outcomes("GPU").values(), report.outcomes("GPU")
    details = [row["detail"] for row in report.device("GPU")["correctness"]["cases"] if row["outcome"] == "wrong"]
    assert all("instead of" in detail or "two executions differ" in detail for detail in details), details
    expect(report.verdict("CPU"), "right")


@case
def crash_in_build(hetero, folder):
    needs_layers(hetero)
    report = Report(hetero, folder, status=1, environment=with_layer("faulty", HET_LAYER_CRASH_BUILD=1))
    expect(report.verdict("GPU"), "crashes or hangs in convolution 1x1", "do not use it")
    first = report.device("GPU")["correctness"]["cases"][0]
    assert first["outcome"] == "crashed", first
    expect(first["detail"], "signal 11")
    expect(first["said"], "the tests' driver gives up")
    # What is left goes on: the other device, pictures on it.
    expect(report.verdict("CPU"), "right")
    assert set(report.outcomes("CPU").values()) == {"right"}, report.outcomes("CPU")


@case
def crash_in_one_launch(hetero, folder):
    """The cases behind the one that died are tried; which one that is depends on the driver."""
    needs_layers(hetero)
    report = Report(hetero, folder, "-d", "GPU", status=1, environment=with_layer("faulty", HET_LAYER_CRASH_LAUNCH=25))
    outcomes = list(report.outcomes("GPU").values())
    first = outcomes.index("crashed")
    assert first > 0 and "right" in outcomes[first + 1:] and outcomes.count("crashed") == 2, outcomes
    expect(report.device("GPU")["correctness"]["problem"], "two crashes or hangs")


@case
def hang_in_build(hetero, folder):
    needs_layers(hetero)
    report = Report(hetero, folder, status=1, environment=with_layer("faulty", HET_LAYER_HANG_BUILD=1))
    expect(report.verdict("GPU"), "crashes or hangs in convolution 1x1")
    expect(report.device("GPU")["correctness"]["cases"][0]["detail"], "hangs (no answer for 20 s)")
    assert set(report.outcomes("CPU").values()) == {"right"}, report.outcomes("CPU")
    left = subprocess.run(["pgrep", "-f", "--", f"{hetero.program}.*self-test-part"], capture_output=True, text=True)
    assert left.stdout == "", left.stdout


@case
def hang_in_launch(hetero, folder):
    needs_layers(hetero)
    report = Report(hetero, folder, "-d", "GPU", status=1, environment=with_layer("faulty", HET_LAYER_HANG_LAUNCH=20))
    expect(report.verdict("GPU"), "crashes or hangs in")
    expect(report.device("GPU")["speed"]["problem"], "hangs", "measuring its limits")


@case
def crash_in_listing(hetero, folder):
    """The loader itself dies in a driver: CPU is tried all the same."""
    needs_layers(hetero)
    report = Report(hetero, folder, status=1, environment=with_layer("faulty", HET_LAYER_CRASH_LISTING=1))
    expect(report.verdict("GPU"), "cannot be opened", "signal 11")
    expect(report.verdict("OpenCL"), "listing the OpenCL devices")
    expect(report.verdict("CPU"), "right")


@case
def noisy_driver(hetero, folder):
    needs_layers(hetero)
    report = Report(hetero, folder, "-d", "GPU", environment=with_layer("faulty", HET_LAYER_NOISE=1))
    expect(report.verdict("GPU"), "right")
    assert "0" * 100 not in report.text + report.raw


@case
def features_that_lie(hetero, folder):
    """Extensions that are named, and whose functions are wrong or missing."""
    needs_layers(hetero)
    report = Report(hetero, folder, "-d", "GPU", environment=with_layer("naming", HET_LAYER_DOT_PRODUCT="wrong", HET_LAYER_HALF=1))
    features = {row["name"]: row for row in report.json["opencl"]["devices"][0]["features"]}
    assert features["cl_khr_integer_dot_product"]["outcome"] == "fails" and features["cl_khr_fp16"]["outcome"] == "fails", features
    expect(features["cl_khr_integer_dot_product"]["detail"], "instead of")
    report = Report(hetero, folder, "-d", "GPU", environment=with_layer("naming", HET_LAYER_DOT_PRODUCT="right"))
    features = {row["name"]: row for row in report.json["opencl"]["devices"][0]["features"]}
    assert features["cl_khr_integer_dot_product"]["outcome"] == "works", features


def video_environment(**more):
    node = os.environ.get("HET_VA_RENDER_NODE", "")
    if not node:
        skip("this build has no VA driver for tests")
    return {"LD_PRELOAD": node, "LIBVA_DRIVERS_PATH": os.environ["HET_VA_DRIVER_FOLDER"], "LIBVA_DRIVER_NAME": "het_test", **more}


def imports_of(report, device):
    return {row["memory"]: row for row in report.json["pictures"]["imports"] if row["device"] == device}


@case
def video_driver(hetero, folder):
    node = ("--video-node", "/dev/dri/renderD128")
    report = Report(hetero, folder, "-d", "CPU", *node, environment=video_environment())
    display = report.json["pictures"]["displays"][0]
    assert display["driver"] and display["problem"] == "", display
    features = {row["name"]: row["outcome"] for row in display["features"]}
    assert features == {"NV12 surfaces": "works", "RGBP surfaces": "works", "BGRx surfaces": "works", "video processor": "works",
                        "DMA-BUF export": "fails"}, features
    assert imports_of(report, "CPU")["VA surface"]["outcome"] == "copied", imports_of(report, "CPU")
    report = Report(hetero, folder, "-d", "CPU", "--video-node", "/dev/dri/renderD200")
    expect(report.json["pictures"]["displays"][0]["problem"], "cannot open /dev/dri/renderD200")


@case
def dma_buf_import(hetero, folder):
    """A surface that the video driver exports, read by the GPU where it is; an import that fails is copied, or said."""
    needs_layers(hetero)
    arguments = ("-d", "GPU", "--video-node", "/dev/dri/renderD128")
    environment = video_environment(HET_VA_EXPORT="1", **with_layer("surface", HET_LAYER_EXTENSIONS="cl_khr_external_memory cl_khr_external_memory_dma_buf"))
    report = Report(hetero, folder, *arguments, environment=environment)
    assert imports_of(report, "GPU")["DMA-BUF"]["outcome"] == "zero-copy", imports_of(report, "GPU")
    assert imports_of(report, "GPU")["VA surface"]["outcome"] == "copied", imports_of(report, "GPU")
    report = Report(hetero, folder, *arguments, status=1, environment={**environment, "HET_LAYER_FAIL_IMPORT": "1"})
    assert imports_of(report, "GPU")["DMA-BUF"]["outcome"] == "failed", imports_of(report, "GPU")
    expect(report.verdict("GPU"), "DMA-BUF", "do not give it such")


@case
def vpu(hetero, folder):
    program = BUILD / "devices/vpu/daemon/hetero-vpud"
    address = folder / "vpu.sock"
    with subprocess.Popen([str(program), "--socket", str(address)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
        try:
            deadline = time.monotonic() + 20
            while not address.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            report = Report(hetero, folder, environment={"HETERO_VPU_FOLDER": str(folder)})
        finally:
            daemon.terminate()
    name = next(device["device"] for device in report.json["devices"] if device["device"].startswith("VPU"))
    outcomes = report.outcomes(name)
    assert outcomes["convolution 3x3"] == "right" and set(outcomes.values()) <= {"right", "refused"}, outcomes
    expect(report.verdict(name), "right")


@case
def wrong_use(hetero, folder):
    expect(hetero.run("devices", "--json", folder / "x.json", status=2).stderr, "--self-test")
    missing = folder / "no_folder" / "x.json"
    expect(hetero.run("devices", "--self-test", "--json", missing, status=2).stderr, "cannot write the report", "no_folder", "No such file")
    report = Report(hetero, folder, "-d", "GPU.7", status=1)
    expect(report.verdict("GPU.7"), "is not there", "GPU.7")
    assert report.json["devices"] == [], report.json["devices"]
    expect(hetero.run("devices", "--help").stdout, "--self-test", "Exit status 0")
    assert "self-test-part" not in hetero.run("devices", "--help").stdout


if __name__ == "__main__":
    run_case(CASES, "self_test.py")
