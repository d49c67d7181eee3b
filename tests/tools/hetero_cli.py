#!/usr/bin/env python3
"""The command line as a user meets it: hetero_cli.py HETERO ROOT [--data DIR] CASE.

One case a run. Uses the demo's models, so a clone alone is enough; the golden cases need the
shared data and are skipped (exit status 77, with the reason) where it is absent.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Hetero:
    def __init__(self, program, root):
        self.program = os.path.abspath(program)
        self.root = pathlib.Path(root)
        self.data = pathlib.Path(os.environ.get("HET_SHARED_DATA", ""))
        self.detector = str(self.root / "pipelines/demo/models/scene_detector.onnx")
        self.detector_proc = self.detector[:-4] + "json"

    def run(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, timeout=900)
        assert done.returncode == status, f"{arguments}: exit status {done.returncode}, {status} expected\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done

    def shared_data(self):
        if not (self.data / "expected").is_dir():
            print(f"skipped: needs the shared data, which is not at '{self.data}'")
            sys.exit(77)
        return self.data


def run_case(cases, script):
    """The main program of a script of cases, each of which gets a folder that is removed."""
    if sys.argv[1:] == ["--list"]:
        print("\n".join(cases))
        return
    if len(sys.argv) != 4 or sys.argv[3] not in cases:
        sys.exit(f"usage: {script} HETERO ROOT CASE; cases: {', '.join(cases)}")
    with tempfile.TemporaryDirectory() as folder:
        cases[sys.argv[3]](Hetero(sys.argv[1], sys.argv[2]), pathlib.Path(folder))


def expect(text, *parts):
    for part in parts:
        assert part in text, f"'{part}' is not in:\n{text[-4000:]}"


@case
def devices(hetero):
    expect(hetero.run("devices").stdout, "CPU", "REF", "FULL_DEVICE_NAME")


@case
def guides(hetero):
    everything = hetero.run("devices", "--guides").stdout
    expect(everything, "Heterogeneous execution", "TARGET_FALLBACK", "-> MULTI_DEVICE_PRIORITIES", "SCHEDULE_POLICY", "-> not there: ")
    rows = hetero.run("query", hetero.detector, "-d", "HETERO:CPU,REF", "--guides", "--properties", "NUM_STREAMS=2,HETERO_POLICY=latency").stdout
    expect(rows, "-> NUM_STREAMS=2", "-> HETERO_POLICY=latency", "-> PERF_COUNT")
    assert "SCHEDULE_POLICY" not in rows and "GPU_QUEUE_PRIORITY" not in rows, rows
    expect(hetero.run("query", hetero.detector, "-d", "CPU", "--guides", "--properties", "NUM_STREAMS=x", status=2).stderr, "NUM_STREAMS")


@case
def query(hetero):
    expect(hetero.run("query", hetero.detector, "-d", "CPU").stdout, "Conv", "nodes run on CPU")
    wish = "HETERO_AFFINITY={\"rules\":[{\"type\":\"Conv\",\"device\":\"REF\"}]}"
    rows = hetero.run("query", hetero.detector, "-d", "HETERO:CPU,REF", "--properties", wish).stdout
    expect(rows, "REF      Conv", "nodes run on HETERO:CPU,REF")
    plan = hetero.run("query", hetero.detector, "-d", "HETERO:CPU,REF", "--explain", "--properties", wish).stdout
    expect(plan, "policy priority", "by priority", "subgraph1 on REF", "predicted", "bytes", "because of")
    expect(hetero.run("query", hetero.detector, "-d", "HETERO:CPU,FPU", status=1).stderr, "FPU")


@case
def query_multiply_adds(hetero):
    out = json.loads(hetero.run("query", hetero.detector, "--multiply-adds", "--json").stdout)
    assert out["multiply_adds"] > 1e6 and out["multiply_adds"] == sum(n["multiply_adds"] for n in out["nodes"]) and out["unknown"] == [], out
    assert {n["type"] for n in out["nodes"]} >= {"Conv"} and len({n["node"] for n in out["nodes"]}) == len(out["nodes"]), out
    rows = hetero.run("query", hetero.detector, "--multiply-adds").stdout
    expect(rows, "Conv", f"{out['multiply_adds'] / 1e6:.3f} million multiply-adds in all")
    twice = json.loads(hetero.run("query", hetero.detector, "--multiply-adds", "--json", "-b", 2).stdout)
    assert twice["multiply_adds"] == 2 * out["multiply_adds"], "two pictures are twice the work"
    expect(hetero.run("query", hetero.detector, "--json", status=2).stderr, "--multiply-adds")


def protobuf(*fields):
    """A message of these (number, text, message or number below 128)."""
    message = b""
    for number, value in fields:
        if isinstance(value, int):
            message += bytes([number << 3, value])
        else:
            content = value.encode() if isinstance(value, str) else value
            message += bytes([number << 3 | 2, len(content) % 128 | 128, len(content) // 128]) + content
    return message


def port(name, *sizes):
    """A ValueInfoProto of float; a size is a number or a name."""
    dims = [(1, protobuf((2 if isinstance(size, str) else 1, size))) for size in sizes]
    return protobuf((1, name), (2, protobuf((1, protobuf((1, 1), (2, protobuf(*dims)))))))


@case
def query_of_unknown_sizes(hetero):
    def node(name, operator, source):
        return protobuf((1, source), (2, name + "_y"), (3, name), (4, operator))

    graph = protobuf((1, node("a", "Relu", "open")), (1, node("b", "Relu", "known")), (1, node("c", "Frobnicate", "open")),
                     (2, "g"), (11, port("open", 1, 3, "w")), (11, port("known", 1, 3)),
                     (12, port("a_y", 1, 3, "w")), (12, port("b_y", 1, 3)), (12, port("c_y")))
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "open.onnx"
        model.write_bytes(protobuf((1, 8), (7, graph), (8, protobuf((2, 13)))))
        for device in ("CPU", "REF"):
            rows = hetero.run("query", model, "-d", device, status=1).stdout.splitlines()
            expect(rows[0], device, "Relu", "a: depends on unknown sizes")
            assert rows[1].split() == [device, "Relu", "b"], rows[1]
            expect(rows[2], "-  ", "Frobnicate", "unknown")
            expect(rows[3], "2 of 3 nodes")
            expect(rows[4], "input 'open'", "[1,3,?]", "-shape 'open[...]'")
            bound = hetero.run("query", model, "-d", device, "-shape", "open[1,3,4]", status=1).stdout
            assert "sizes" not in bound, bound
        expect(hetero.run("bench", model, status=2).stderr, "open.onnx", "[1,3,?]", "-shape")


@case
def usage_errors(hetero):
    hetero.run(status=2)
    hetero.run("nonsense", status=2)
    expect(hetero.run("bench", hetero.detector, "-c", "x.xml", status=2).stderr, "device CPU has no property 'CONFIG_FILE'")
    expect(hetero.run("query", hetero.detector, "-extensions", "/nowhere/none.so", status=1).stderr, "/nowhere/none.so", "does not exist")
    expect(hetero.run("bench", hetero.detector, "-api", "both", status=2).stderr, "sync or async")
    expect(hetero.run("bench", hetero.detector, "-nstreams", "many", status=2).stderr, "NUM_STREAMS")
    hetero.run("--help")


@case
def bad_input(hetero):
    expect(hetero.run("query", "no/such/model.onnx", status=1).stderr, "no/such/model.onnx")
    expect(hetero.run("query", hetero.detector, "-d", "FPU", status=1).stderr, "FPU", "CPU, GPU, VPU, REF")
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder) / "broken.onnx"
        broken.write_bytes(pathlib.Path(hetero.detector).read_bytes()[:10000])
        expect(hetero.run("query", broken, status=1).stderr, "broken.onnx")
        picture = pathlib.Path(folder) / "not_a_picture.jpg"
        picture.write_text("no picture")
        expect(hetero.run("run", hetero.detector, "--image", picture, status=1).stderr, "not_a_picture.jpg")
    expect(hetero.run("run", hetero.detector, "--output", "/tmp", status=2).stderr, "images", "--input")


@case
def run_tensors(hetero):
    import numpy  # Debian's, installed for the demo

    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "x.npy"
        numpy.save(source, numpy.full((1, 3, 192, 320), 128, numpy.float32))
        results = {}
        for device in ("CPU", "REF"):
            output = pathlib.Path(folder) / device
            hetero.run("run", hetero.detector, "-d", device, "--input", f"images={source}", "--output", output)
            described = json.loads((output / "outputs.json").read_text())["outputs"][0]
            results[device] = numpy.load(output / described["file"])
            assert list(results[device].shape) == described["shape"] and described["type"] == "float32"
        numpy.testing.assert_allclose(results["CPU"], results["REF"], rtol=1e-3, atol=1e-4)
        overridden_initialiser(hetero, pathlib.Path(folder))


def overridden_initialiser(hetero, folder):
    """y = x * w, where w = 1 unless it is given: it is an initialiser and an input."""
    import numpy

    one = protobuf((1, protobuf()), (2, 1), (8, "w"), (9, numpy.ones(1, numpy.float32).tobytes()))
    graph = protobuf((1, protobuf((1, "x"), (1, "w"), (2, "y"), (4, "Mul"))), (2, "g"), (5, one.replace(protobuf((1, protobuf())), b"\x08\x01")),
                     (11, port("x", 1)), (11, port("w", 1)), (12, port("y", 1)))
    model = folder / "overridable.onnx"
    model.write_bytes(protobuf((1, 3), (7, graph), (8, protobuf((2, 13)))))
    numpy.save(folder / "five.npy", numpy.full(1, 5, numpy.float32))

    def output(*inputs):
        hetero.run("run", model, *[part for name in inputs for part in ("--input", f"{name}={folder / 'five.npy'}")], "--output", folder / "o")
        return numpy.load(folder / "o/output_0.npy").tolist()

    assert output("x") == [5] and output("x", "w") == [25]
    expect(hetero.run("run", model, "--input", f"v={folder / 'five.npy'}", "--output", folder / "o", status=1).stderr, "'v'")


@case
def convert(hetero):
    import numpy

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pixels = numpy.random.default_rng(3).integers(0, 256, (1, 3, 192, 320), numpy.uint8)
        numpy.save(folder / "bytes.npy", pixels)
        numpy.save(folder / "floats.npy", pixels.astype(numpy.float32))
        numpy.save(folder / "last.npy", numpy.ascontiguousarray(pixels.astype(numpy.float32).transpose(0, 2, 3, 1)))

        def output(model, tensor):
            hetero.run("run", model, "--input", f"images={folder / tensor}", "--output", folder / "out")
            return numpy.load(folder / "out/output_0.npy")

        def converted(*options):
            hetero.run("convert", hetero.detector, "-o", folder / "m.onnx", *options)
            return folder / "m.onnx"

        wanted = output(hetero.detector, "floats.npy")
        numpy.testing.assert_array_equal(output(converted(), "floats.npy"), wanted)
        check_with_onnx(folder / "m.onnx")
        numpy.testing.assert_array_equal(output(converted("--external-data"), "floats.npy"), wanted)
        assert (folder / "m.onnx.data").stat().st_size > (folder / "m.onnx").stat().st_size
        check_with_onnx(folder / "m.onnx")
        numpy.testing.assert_array_equal(output(converted("-ip", "u8"), "bytes.npy"), wanted)
        numpy.testing.assert_array_equal(output(converted("-layout", "[NCHW->NHWC]"), "last.npy"), wanted)
        whole = (folder / "m.onnx").stat().st_size
        assert converted("--compress_to_fp16").stat().st_size < 0.65 * whole
        numpy.testing.assert_allclose(output(folder / "m.onnx", "floats.npy"), wanted, atol=0.02 * abs(wanted).max())
        check_with_onnx(folder / "m.onnx")
        # A mean and a scale that undo each other with the pixels' own change.
        changed = pixels.astype(numpy.float32) * 2 + 10
        numpy.save(folder / "changed.npy", changed)
        numpy.testing.assert_allclose(output(converted("-mean_values", "[10,10,10]", "-scale_values", "[2]"), "changed.npy"), wanted,
                                      rtol=1e-3, atol=1e-3 * abs(wanted).max())
        expect(hetero.run("convert", hetero.detector, "-o", folder / "m.onnx", "-output_names", "nothing", status=1).stderr, "nothing", "its outputs are")
        expect(hetero.run("convert", hetero.detector, "-o", folder / "no/m.onnx", status=1).stderr, "no/m.onnx")


def check_with_onnx(path):
    """onnx.checker, where Python has an onnx package that knows the written opset."""
    try:
        import onnx
    except ImportError:
        return
    if onnx.defs.onnx_opset_version() >= 27:
        onnx.checker.check_model(str(path), full_check=True)


@case
def run_picture(hetero):
    import cv2
    import numpy

    with tempfile.TemporaryDirectory() as folder:
        picture = pathlib.Path(folder) / "grey.png"
        cv2.imwrite(str(picture), numpy.full((192, 320, 3), 114, numpy.uint8))
        expect(hetero.run("run", hetero.detector, "--image", picture, "--model-proc", hetero.detector_proc).stdout, "nothing found")


@case
def bench_json(hetero):
    out = json.loads(hetero.run("bench", hetero.detector, "-d", "CPU", "-nstreams", 2, "-nireq", 4, "-niter", 20, "-json").stdout)
    assert out["iterations"] == 20 and out["throughput_fps"] > 0 and out["peak_rss_bytes"] > 0
    latency = out["latency_ms"]
    assert latency["min"] <= latency["median"] <= latency["p90"] <= latency["p99"] <= latency["max"]
    assert out["device"] == "CPU" and out["precision"] and out["compile_ms"] > 0 and out["first_inference_ms"] > 0
    assert len(out["rounds"]) == 5 and all(r["latency_ms"] > 0 and r["throughput_fps"] > 0 for r in out["rounds"]), out["rounds"]
    for key in ("latency_ms", "throughput_fps"):
        values, spread = [r[key] for r in out["rounds"]], out["spread"][key]
        assert spread["min"] == min(values) and spread["max"] == max(values) and spread["min"] <= spread["median"] <= spread["max"], out["spread"]
    lines = hetero.run("bench", hetero.detector, "-niter", 6, "-rounds", 3).stdout
    assert re.search(r"Median: +[\d.]+ ms \[[\d.]+ [\d.]+ of 3 rounds\]", lines) and re.search(r"Throughput: +[\d.]+ FPS \[", lines), lines
    assert "rounds]" not in hetero.run("bench", hetero.detector, "-niter", 1).stdout, "one inference spreads over nothing"


@case
def bench_frames(hetero):
    def peak(size):
        return json.loads(hetero.run("bench", hetero.detector, "-niter", 5, "-json", "--frames", size).stdout)["peak_rss_bytes"]

    large, small = peak("BGR:3840x2160"), peak("320x192")
    assert large - small > 0.8 * 3 * 3840 * 2160, f"the larger picture's {3 * 3840 * 2160} bytes are not there: {large}, {small}"
    hetero.run("bench", hetero.detector, "-niter", 5, "-b", 3, "--frames", "I420:64x64")
    for text in ("64", "64x", "x64", "NV12:64x64x", "NV12:0x64"):
        expect(hetero.run("bench", hetero.detector, "--frames", text, status=2).stderr, "WIDTHxHEIGHT")
    expect(hetero.run("bench", hetero.detector, "--frames", "XY12:64x64", status=2).stderr, "'XY12'")


@case
def bench_models(hetero):
    classifier = hetero.detector.replace("scene_detector", "scene_attributes")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        lines = hetero.run("bench", hetero.detector, classifier, "-niter", 10, "-report", report).stdout
        out = json.loads(report.read_text())
        assert list(pathlib.Path(folder).iterdir()) == [report], "it is written aside and renamed"
    expect(lines, f"Model {hetero.detector}", f"Model {classifier}", "Geometric means of 2 models", "rounds]")
    assert [m["model"] for m in out["models"]] == [hetero.detector, classifier], out["models"]
    mean = out["geometric_mean"]
    for key, values in (("latency_ms", [m["latency_ms"]["median"] for m in out["models"]]), ("throughput_fps", [m["throughput_fps"] for m in out["models"]])):
        assert abs(mean[key] / (values[0] * values[1]) ** 0.5 - 1) < 1e-6, (mean, values)
        assert mean["spread"][key]["min"] <= mean["spread"][key]["max"], mean
    expect(hetero.run("bench", hetero.detector, classifier, "-niter", 1, "-trace", "t.json", status=2).stderr, "one model, not 2")
    expect(hetero.run("bench", hetero.detector, "-niter", 1, "-report", "/no/such/r.json", status=1).stderr, "/no/such/r.json")


@case
def bench_sweep(hetero):
    import xml.etree.ElementTree

    with tempfile.TemporaryDirectory() as folder:
        report, chart = pathlib.Path(folder, "sweep.json"), pathlib.Path(folder, "sweep.svg")
        table = hetero.run("bench", hetero.detector, "--sweep", "streams=1,2", "requests=1,2,4", "batch=1,2", "-niter", 8, "-rounds", 2,
                           "-report", report, "--chart", chart).stdout
        out = json.loads(report.read_text())
        svg = xml.etree.ElementTree.parse(chart).getroot()
    settings = [(s["streams"], s["requests"], s["batch"]) for s in out["sweep"]]
    assert sorted(settings) == sorted((s, r, b) for s in ("1", "2") for r in (1, 2, 4) for b in (1, 2)), settings
    assert all(len(s["rounds"]) == 2 and s["latency_ms"]["min"] > 0 for s in out["sweep"]), out["sweep"][0]
    front = [s for s in out["sweep"] if s["is_on_front"]]
    for s in out["sweep"]:
        better = [f for f in front if f["latency_ms"]["median"] <= s["latency_ms"]["median"] and f["throughput_fps"]["median"] >= s["throughput_fps"]["median"]]
        assert better, s
    expect(table, "latency, median ms [rounds]", "front", "knee")
    assert len(table.splitlines()) == 1 + 12 + 2, table
    texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any("ms" in t for t in texts) and "throughput, items/s" in texts and "2 streams, batch 2" in texts and "scene_detector.onnx on CPU" in texts, texts
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}circle"))) >= 12 + 4
    assert ("knee" in " ".join(texts)) == (out["knee"] is not None), (texts, out["knee"])

    # What does not fit together, before anything is measured.
    for options, part in ((("--sweep", "threads=2"), "threads=2"), (("--sweep", "requests=1,1"), "1 twice"), (("--sweep", "requests="), "not ''"),
                          (("--sweep", "requests=1,2", "-nireq", 2), "-nireq"), (("--sweep", "streams=1", "-nstreams", 2), "-nstreams"),
                          (("--sweep", "batch=1", "-b", 2), "-b"), (("--sweep", "requests=1", "-api", "sync"), "sync"),
                          (("--sweep", "requests=1", "-pc"), "-pc"), (("--sweep", "requests=1", "--chart", "x.png"), ".svg"),
                          (("--chart", "x.svg"), "--sweep"), (("--sweep", "requests=1", "--stub", "Conv"), "two measurements"),
                          (("--sweep", "batch=1", "-layout", "CHW"), "batch=1")):
        expect(hetero.run("bench", hetero.detector, "-niter", 1, *options, status=2).stderr, part)


@case
def bench_stub(hetero):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "stub.json")
        text = hetero.run("bench", "--stub", "Conv", hetero.detector, "-d", "REF", "-hint", "latency", "-niter", 1, "-rounds", 2, "-report", report).stdout
        out = json.loads(report.read_text())
    expect(text, "took no time (Conv", "as it is", "with stubs", "gain at most", "(PERF_COUNT)", "latency at least")
    before, after = out["baseline"]["latency_ms"]["median"], out["with_stubs"]["latency_ms"]["median"]
    assert after < 0.5 * before, (before, after)
    assert 0.5 < out["share"] <= 1 and out["latency_bound_ms"] < 0.5 * before, out
    assert out["inseparable"] == [] and [p["device"] for p in out["parts"]] == ["REF"], out
    out = json.loads(hetero.run("bench", "--stub", "Conv", hetero.detector, "-hint", "latency", "-niter", 3, "-rounds", 1, "-json").stdout)
    assert any("runs in the kernel of" in line for line in out["inseparable"]), "activations are fused into convolutions"

    # A node that the first device of HETERO does not run, here by the user's wish: with the stub all is in one piece there.
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config.json")
        config.write_text(json.dumps({"HETERO": {"HETERO_AFFINITY": json.dumps({"rules": [{"type": "Resize", "device": "REF"}]})}}))
        out = json.loads(hetero.run("bench", hetero.detector, "-d", "HETERO:CPU,REF", "-load_config", config, "--stub", "Resize", "-niter", 5, "-rounds", 2, "-json").stdout)
    assert int(out["subgraphs"]["before"]) > int(out["subgraphs"]["after"]) == 1, out["subgraphs"]
    assert {p["device"] for p in out["parts"]} == {"CPU", "REF"} and out["first_device"] == "CPU", out["parts"]
    assert sum(p["stubbed_ms"] for p in out["parts"] if p["device"] == "REF") > 0, out["parts"]

    expect(hetero.run("bench", hetero.detector, "--stub", "Cnov", status=1).stderr, "'Cnov'", "nearest names", "'Conv'")


@case
def bench_stub_of_what_gpu_lacks(hetero):
    """What a kernel of one's own could give under HETERO:GPU,CPU, before it is written."""
    if "GPU (not available)" in hetero.run("devices").stdout:
        print("skipped: OpenCL finds no device")
        sys.exit(77)

    def node(name, operator, source, target):
        return protobuf((1, source), (2, target), (3, name), (4, operator))

    graph = protobuf((1, node("first", "Relu", "x", "a")), (1, node("det", "Det", "a", "b")), (1, node("last", "Sigmoid", "b", "y")),
                     (2, "g"), (11, port("x", 64, 3, 3)), (12, port("y", 64)))
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "det.onnx"
        model.write_bytes(protobuf((1, 8), (7, graph), (8, protobuf((2, 13)))))
        out = json.loads(hetero.run("bench", model, "-d", "HETERO:GPU,CPU", "--stub", "Det", "-niter", 3, "-rounds", 1, "-json").stdout)
        assert out["subgraphs"] == {"before": "3", "after": "1"}, out["subgraphs"]
        assert out["first_device"] == "GPU" and [r.split(":")[0] for r in out["refused"]] == ["det (Det)"], out
        assert [(p["device"], p["rows"]) for p in out["parts"]] == [("GPU", 0), ("CPU", 1), ("GPU", 0)], out["parts"]
        # GPU alone does not run the model today.
        text = hetero.run("bench", model, "-d", "GPU", "--stub", "det", "-niter", 3, "-rounds", 1).stdout
        expect(text, "If 1 node took no time (Det 1), on GPU", "with stubs", "as it is, the model does not run", "no GPU kernel for Det")


@case
def bench_older_names(hetero):
    """Names and values as the guides of 2019 to 2022 print them."""
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config.json")
        config.write_text('{"CPU": {"KEY_CPU_THROUGHPUT_STREAMS": "2", "KEY_PERFORMANCE_HINT": "THROUGHPUT", "KEY_DYN_BATCH_ENABLED": "NO"}}')
        out = json.loads(hetero.run("bench", hetero.detector, "-niter", 2, "-load_config", config, "-json").stdout)
        assert out["streams"] == "2", out["properties"]
        # An option counts more than the file, whatever the file calls it.
        out = json.loads(hetero.run("bench", hetero.detector, "-niter", 2, "-load_config", config, "-nstreams", 1, "-hint", "latency", "-json").stdout)
        assert out["streams"] == "1" and out["properties"]["PERFORMANCE_HINT"] == "LATENCY", out["properties"]
        config.write_text('{"CPU": {"KEY_TUNING_MODE": "TUNING_CREATE"}}')
        expect(hetero.run("bench", hetero.detector, "-load_config", config, status=2).stderr, "KEY_TUNING_MODE", "CACHE_DIR", "TUNING_DISABLED")
    rows = hetero.run("query", hetero.detector, "-d", "HETERO:CPU,REF", "--properties", "REF.KEY_PERF_COUNT=YES").stdout
    expect(rows, "nodes run on HETERO:CPU,REF")


@case
def bench_batch(hetero):
    out = json.loads(hetero.run("bench", hetero.detector, "-d", "BATCH:CPU(4)", "-nireq", 8, "-niter", 40, "-json").stdout)
    assert out["iterations"] == 40 and out["properties"]["OPTIMAL_BATCH_SIZE"] == "4", out
    expect(hetero.run("bench", hetero.detector, "-d", "BATCH:CPU(4", status=2).stderr, "DEVICE(BATCH)", "GPU(8)")
    expect(hetero.run("bench", hetero.detector, "-d", "BATCH", status=2).stderr, "needs a device to batch for")


@case
def bench_cache_dir(hetero):
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder) / "choices"
        for _ in range(2):
            out = json.loads(hetero.run("bench", hetero.detector, "-cache_dir", cache, "-niter", 1, "-json").stdout)
            assert out["properties"]["CACHE_DIR"] == str(cache), out["properties"]
        assert [f for f in cache.iterdir() if f.name.startswith("choices-cpu-")], list(cache.iterdir())
        hetero.run("bench", hetero.detector, "-cache_dir", "", "-niter", 1)


@case
def bench_preparation(hetero):
    out = json.loads(hetero.run("bench", hetero.detector, "-ip", "u8", "-b", 2, "-layout", "NCHW", "-niter", 2, "-json").stdout)
    assert out["batch"] == 2, out
    expect(hetero.run("query", hetero.detector, "-iop", "images:u8", "-imean", "[1,2,3]").stdout, "images/Cast", "images/mean")
    expect(hetero.run("query", hetero.detector, "-iop", "image:u8", status=1).stderr, "image", "has no output")
    expect(hetero.run("bench", hetero.detector, "-shape", "[1,3", status=2).stderr, "[1,3")
    expect(hetero.run("bench", hetero.detector, "-b", 2, "-layout", "CHW", status=2).stderr, "CHW")


@case
def bench_counters(hetero):
    out = hetero.run("bench", hetero.detector, "-hint", "latency", "-niter", 3, "-pc", "-pcsort", "sort").stdout
    expect(out, "EXECUTED", "execType", "Total time:", "Throughput:", "float32", "bytes")


@case
def bench_counters_of_subgraphs(hetero):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "config.json")
        config.write_text(json.dumps({"HETERO": {"HETERO_AFFINITY": json.dumps({"rules": [{"type": "Conv", "device": "REF"}]})}}))
        out = hetero.run("bench", hetero.detector, "-d", "HETERO:CPU,REF", "-niter", 3, "-pc", "--load_config", config).stdout
    row = re.compile(r"^subgraph(\d+): .+: (?:EXECUTED|OPTIMIZED_OUT|NOT_RUN) layerType: \S* realTime: \d+ cpu: \d+ execType: \S*$")
    rows = [row.match(line) for line in out.splitlines() if line.startswith("subgraph") and "realTime" in line]
    if None in rows or {match[1] for match in rows} < {"1", "2"}:
        raise AssertionError(out)
    expect(out, "Total time:")


@case
def bench_trace(hetero):
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.json")
        hetero.run("bench", hetero.detector, "-d", "CPU", "-nstreams", 2, "-nireq", 2, "-niter", 6, "-trace", trace)
        events = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X"]
        if {e["tid"] for e in events} != {0, 1} or min(e["ts"] for e in events) != 0:
            raise AssertionError(f"two requests, from 0 on: {events[:3]}")
        convolutions = [e["args"] for e in events if e["cat"] == "Conv"]
        if not convolutions or any(a["type"] != "float32" or a["bytes"] <= 0 or not a["layout"] for a in convolutions):
            raise AssertionError(f"convolutions have a type, a layout and bytes: {convolutions[:2]}")
        expect(hetero.run("bench", hetero.detector, "-niter", 1, "-trace", f"{folder}/none/trace.json", status=2).stderr, "cannot write", "none/trace.json")


@case
def bench_configuration(hetero):
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder) / "config.json"
        config.write_text('{"CPU": {"NUM_STREAMS": "1", "PERF_COUNT": "NO"}}')
        out = json.loads(hetero.run("bench", hetero.detector, "-niter", 2, "-load_config", config, "-json").stdout)
        assert out["streams"] == "1", out["streams"]
        config.write_text("{")
        expect(hetero.run("bench", hetero.detector, "-load_config", config, status=1).stderr, "config.json")

        # Sections of the members; of one that is not asked for; of one that is none.
        config.write_text('{"CPU": {"INFERENCE_PRECISION_HINT": "f16"}, "HETERO:CPU,REF": {"HETERO_STRICT": true}}')
        hetero.run("bench", hetero.detector, "-d", "REF", "-niter", 2, "-load_config", config)
        expect(hetero.run("bench", hetero.detector, "-d", "HETERO:CPU,REF", "-load_config", config, status=1).stderr, "CPU does not compute in f16")
        config.write_text('{"CPP": {"NUM_STREAMS": "1"}}')
        expect(hetero.run("bench", hetero.detector, "-load_config", config, status=1).stderr, "config.json", "'CPP'", "there is no device")


def verify_golden(hetero, kind, device, passed, not_passed, *options):
    """Exactly these folders of expected/golden/KIND do not pass."""
    data = hetero.shared_data()
    done = subprocess.run([hetero.program, "verify", str(data / "expected/golden" / kind), "--root", str(data), "-d", device, "--json", *options],
                          capture_output=True, text=True, timeout=3000)
    summary = json.loads(done.stdout)
    others = {pathlib.Path(c["name"]).name: c for c in summary["cases"] if c["outcome"] != "passed"}
    for c in others.values():
        print(f"{c['outcome']}: {c['name']}: {c['reason']}")
    assert summary["passed"] == passed and set(others) == not_passed, (summary["passed"], set(others))


@case
def verify_golden_cpu(hetero):
    verify_golden(hetero, "onnx", "CPU", 20, set())


@case
def verify_golden_ref(hetero):
    verify_golden(hetero, "onnx", "REF", 20, set())


# Quantised detectors whose rows of low score on the synthetic noise picture change places when one
# level flips, so that they pass only where products are added in the recording's order: OpenVINO
# itself drops to 0.951 and 0.491 when every bias moves by half a unit in the last place. oneDNN adds
# in that order on AVX-512. What the models find on real pictures is held to a bound by
# tests/gst/ir_reference.cpp.
FACES, VEHICLES = "face-detection-retail-0004--FP16-INT8", "person-vehicle-bike-detection-2000--FP16-INT8"


def has_onednn_2(hetero):
    return "libdnnl.so.2" in subprocess.run(["ldd", hetero.program], capture_output=True, text=True, check=True).stdout


@case
def verify_golden_ir_cpu(hetero):
    flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    flipped = {FACES} if has_onednn_2(hetero) and not {"avx512bw", "avx512vl", "avx512dq"} <= set(flags) else set()
    verify_golden(hetero, "ir", "CPU", 24 - len(flipped), flipped)


@case
def verify_golden_ir_int8(hetero):
    """The one row of the vehicles lies at the threshold; OpenVINO's int8 misses it. The faces are
    noise (no score above 0.43), whose rows change places with the roundings of oneDNN 3."""
    data = hetero.shared_data()
    if "avx2" not in pathlib.Path("/proc/cpuinfo").read_text().split():
        print("skipped: this processor has no AVX2, so device CPU computes quantised models in float")
        sys.exit(77)
    folders = [str(f) for f in sorted((data / "expected/golden/ir").iterdir()) if "INT8" in f.name]
    done = subprocess.run([hetero.program, "verify", *folders, "--root", str(data), "-d", "CPU", "--execution_mode", "PERFORMANCE", "--json"],
                          capture_output=True, text=True, timeout=3000)
    failed = {pathlib.Path(c["name"]).name for c in json.loads(done.stdout)["cases"] if c["outcome"] != "passed"}
    uncertain = {VEHICLES} if has_onednn_2(hetero) else {VEHICLES, FACES}
    assert len(folders) == 3 and failed <= uncertain, (folders, failed)


@case
def verify_golden_gpu_int8(hetero):
    data = hetero.shared_data()
    if "GPU (not available)" in hetero.run("devices").stdout:
        print("skipped: OpenCL finds no device")
        sys.exit(77)
    folders = [str(data / "expected/golden/onnx" / name) for name in ("mobilenet_v2_qoperator_int8", "kws_qdq_int8")]
    expect(hetero.run("verify", *folders, "--root", str(data), "-d", "GPU", "--properties", "GPU_INT8=YES").stdout,
           "2 passed, 0 failed, 0 skipped")


@case
def verify_golden_ir_ref(hetero):
    verify_golden(hetero, "ir", "REF", 22, {FACES, VEHICLES})


@case
def verify_says_where_it_fails(hetero):
    import numpy

    data = hetero.shared_data()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "wrong"
        copy.mkdir()
        for file in (data / "expected/golden/onnx/mnist-8").iterdir():
            copy.joinpath(file.name).write_bytes(file.read_bytes())
        values = numpy.load(copy / "output_0.npy")
        values.flat[3] += 1
        numpy.save(copy / "output_0.npy", values)
        done = hetero.run("verify", copy, "--root", data, status=1)
        expect(done.stdout, "flat index 3", "0 passed, 1 failed, 0 skipped")
        hetero.run("verify", pathlib.Path(folder) / "nothing", status=1)


ONE_VALUE_IR = """<net name="one" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1" element_type="f32"/><output><port id="0" precision="FP32" names="x"><dim>1</dim></port></output></layer>
<layer id="1" name="y" type="Exp" version="opset1"><input><port id="0"/></input><output><port id="1" precision="FP32" names="y"><dim>1</dim></port></output></layer>
<layer id="2" name="y/result" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/><edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


@case
def verify_of_one_value(hetero):
    """A score has no range: what it may be off by is a part of itself."""
    import numpy

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "one.xml").write_text(ONE_VALUE_IR)
        for recorded, outcome in ((148.41, "1 passed, 0 failed"), (147.0, "0 passed, 1 failed")):
            numpy.save(folder / "output_0.npy", numpy.array([recorded], numpy.float32))
            (folder / "golden.json").write_text(json.dumps({
                "model": "one.xml", "source": "exp(5) = 148.413", "inputs": [{"name": "x", "type": "float32", "shape": [1], "lo": 5, "hi": 5}],
                "outputs": [{"name": "y", "type": "float32", "shape": [1], "file": "output_0.npy", "min": recorded, "max": recorded, "argmax": 0}]}))
            done = hetero.run("verify", folder, "--root", folder, "-d", "CPU", status=0 if outcome.startswith("1") else 1)
            expect(done.stdout, outcome)


@case
def verify_onnx_backend_tests(hetero):
    folder = pathlib.Path("/usr/lib/python3/dist-packages/onnx/backend/test/data/node")
    if not folder.is_dir():
        print(f"skipped: needs Debian's libonnx-testdata, which is not at {folder}")
        sys.exit(77)
    for name in ("test_relu", "test_conv_with_strides_padding", "test_softmax_axis_1", "test_add_bcast",
                 "test_maxpool_with_argmax_2d_precomputed_pads"):
        expect(hetero.run("verify", folder / name).stdout, "1 passed, 0 failed, 0 skipped")


def tensor_names(sources, targets):
    return [*((1, name) for name in sources), *((2, name) for name in targets)]


@case
def device_library(hetero):
    library = pathlib.Path(os.environ["HET_BUILD_ROOT"]) / "examples/custom_device/mydev.so"
    loaded = ["--device-library", library]
    expect(hetero.run("devices", *loaded).stdout, "MYDEV\n", "An example of a device in C", "MYDEV_EXECUTIONS")
    # Before the subcommand, and a folder.
    expect(hetero.run("--device-library", library.parent, "devices").stdout, "MYDEV\n", "CPU\n")
    rows = hetero.run("query", hetero.detector, "-d", "HETERO:MYDEV,CPU", *loaded).stdout
    expect(rows, "MYDEV    Conv", "MYDEV    Relu", "CPU      Resize", "the device has no such operator", "nodes run on HETERO:MYDEV,CPU")
    plan = hetero.run("query", hetero.detector, "-d", "HETERO:MYDEV,CPU", "--explain", *loaded).stdout
    expect(plan, "on MYDEV", "on CPU", "because of")
    print(plan)
    picture = hetero.root / "docs/demo.jpg"
    found = hetero.run("run", hetero.detector, "--image", picture, "--model-proc", hetero.detector_proc, "-d", "HETERO:MYDEV,CPU", *loaded).stdout
    wanted = hetero.run("run", hetero.detector, "--image", picture, "--model-proc", hetero.detector_proc, "-d", "REF").stdout
    assert [line.split()[0] for line in found.splitlines()] == [line.split()[0] for line in wanted.splitlines()], found + wanted
    for arguments in (["devices"], ["query", hetero.detector]):
        missing = hetero.run(*arguments, "--device-library", "/nowhere/npu.so", status=1)
        expect(missing.stderr, "/nowhere/npu.so", "does not exist")
        assert missing.stdout == "", missing.stdout
    expect(hetero.run("devices", "--device-library", hetero.program, status=2).stderr, "cannot load device library")
    expect(hetero.run("query", hetero.detector, "-d", "MYDEV", status=1).stderr, "MYDEV")


@case
def device_of_the_page(hetero):
    """The device of docs/writing_a_device.md, compiled from the page."""
    import numpy  # Debian's, installed for the demo

    page = (hetero.root / "docs/writing_a_device.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source, library, model = (pathlib.Path(folder) / name for name in ("negator.c", "negator.so", "model.onnx"))
        source.write_text("\n".join(re.findall(r"^```c\n(.*?)^```", page, re.DOTALL | re.MULTILINE)))
        flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-pthread"]
        subprocess.run(["cc", *flags, "-I", str(hetero.root), str(source), "-o", str(library)], check=True, timeout=60)
        # Neg -> Neg -> Tanh -> Neg, of which the first is an output as well.
        nodes = [protobuf(*tensor_names([x], [y]), (3, y), (4, kind))
                 for x, y, kind in (("x", "a", "Neg"), ("a", "b", "Neg"), ("b", "c", "Tanh"), ("c", "d", "Neg"))]
        graph = protobuf(*((1, node) for node in nodes), (2, "g"), (11, port("x", 2, 3)), (12, port("a", 2, 3)), (12, port("d", 2, 3)))
        model.write_bytes(protobuf((1, 8), (7, graph), (8, protobuf((2, 13)))))
        loaded = ["-d", "HETERO:NEGATOR,CPU", "--device-library", library]
        rows = hetero.run("query", model, *loaded).stdout
        expect(rows, "NEGATOR  Neg", "CPU      Tanh", "only Neg runs here")
        expect(hetero.run("query", model, "--explain", *loaded).stdout, "on NEGATOR", "on CPU")
        value = numpy.array([[-1, 2, -3], [0.5, -0.25, 4]], numpy.float32)
        numpy.save(f"{folder}/x.npy", value)
        hetero.run("run", model, "--input", f"x={folder}/x.npy", "--output", f"{folder}/out", *loaded)
        described = json.loads(pathlib.Path(folder, "out/outputs.json").read_text())["outputs"]
        for output, wanted in zip(described, (-value, -numpy.tanh(value)), strict=True):
            numpy.testing.assert_allclose(numpy.load(f"{folder}/out/{output['file']}"), wanted, atol=1e-6)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    if len(sys.argv) != 4 or sys.argv[3] not in CASES:
        sys.exit(f"usage: hetero_cli.py HETERO ROOT CASE; cases: {', '.join(CASES)}")
    CASES[sys.argv[3]](Hetero(sys.argv[1], sys.argv[2]))


if __name__ == "__main__":
    main()
