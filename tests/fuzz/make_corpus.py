#!/usr/bin/env python3
"""Writes what the fuzzer starts from: small valid files of every kind, damaged variants, dictionaries.

Usage: make_corpus.py ROOT OUT. Every target gets a folder OUT/<target>; OUT/<name>.dict are dictionaries. The result is
the same each time. Needs Debian's python3-onnx (onnx's node test models, libonnx-testdata, are added where installed).
"""
import json
import pathlib
import random
import re
import struct
import sys

import onnx

from ir_seeds import IR_ATTRIBUTES, IR_MODES, ir_files, ir_types
from onnx_seeds import MAX_BYTES, onnx_files
from vpu_seeds import host_files, message_files, session_files


def damaged(rng, data, count):
    """Truncated and bit-flipped variants."""
    for _ in range(count if data else 0):
        if rng.random() < 0.5:
            yield data[:rng.randrange(len(data) + 1)]
        else:
            changed = bytearray(data)
            for _ in range(rng.randint(1, 4)):
                changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            yield bytes(changed)


def npy_files():
    promise = b"{'descr': '<f4', 'fortran_order': False, 'shape': (700000000,), }\n"  # 2.8 GB that do not follow
    yield b"\x93NUMPY\1\0" + struct.pack("<H", len(promise)) + promise
    for kind in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "S4", "c8"):
        for order in "<>|":
            for shape in ("()", "(3,)", "(2, 3)", "(0, 2)"):
                head = f"{{'descr': '{order}{kind}', 'fortran_order': {shape == '(3,)'}, 'shape': {shape}, }}".encode()
                yield b"\x93NUMPY\1\0" + struct.pack("<H", len(head) + 1) + head + b"\n" + bytes(range(48))
                yield b"\x93NUMPY\2\0" + struct.pack("<I", len(head) + 1) + head + b"\n" + bytes(range(48))


def exported_file(table, content=b""):
    head = b"gst-hetero compiled model 0001 %012d %016x\n" % (len(table), 0) + table
    return head + bytes(-len(head) % 64) + content


def exported_files():
    def table(*sizes, device="CPU"):
        return json.dumps({"device": device, "sections": [{"name": f"s{k}", "bytes": size, "checksum": "0"} for k, size in enumerate(sizes)]}).encode()

    for sizes in ((), (0,), (1,), (64,), (65, 0, 3), (2**64 - 1,), (2**64 - 64, 128), (2**63, 2**63)):
        yield exported_file(table(*sizes), bytes(256))
    yield exported_file(table(8, device="GPU"), bytes(64))
    for text in (b"", b"[]", b"{", b'{"device":"CPU","sections":[7]}', b"[" * 2000):
        yield exported_file(text)


def exported_split_files():
    """Splits of HETERO: a chain over two devices, a branch, a constant that is an output, two plans."""
    def file(split, *contents):
        parts = [("split", json.dumps(split).encode())] + [*contents]
        rows = [{"name": name, "bytes": len(content), "checksum": "0"} for name, content in parts]
        return exported_file(json.dumps({"device": "HETERO", "sections": rows}).encode(), b"".join(c + bytes(-len(c) % 64) for _, c in parts))

    def port(name, shape=(1, 4), type="float32", **more):
        return {"name": name, "type": type, "shape": shape, **more}

    def part(name, device, inputs, outputs, *sources):
        return {"name": name, "device": device, "inputs": inputs, "outputs": outputs, "sources": sources}

    picture = {"resize": "letterbox-centre", "color_order": "RGB", "layout": "NCHW", "range": [0, 1], "mean": [0, 1.5, 0], "std": [1, 1, 1], "pad_value": [114, 114, 114]}
    inputs = [port("x", picture=json.dumps(picture)), port("unused", (), "int64")]
    chain = [part("m_0", "CPU", inputs[:1], [port("a")], {"input": 0}),
             part("m_1", "GPU", [port("a")], [port("b"), port("late", (-1,), "undefined")], {"subgraph": 0, "output": 0}),
             part("m_2", "CPU", [port("b"), port("x")], [port("y")], {"subgraph": 1, "output": 0}, {"input": 0})]
    outputs = [port("y"), port("c", (2,), "bool"), port("late", (-1,), "undefined"), port("x")]
    way = {"share": 1.0, "turns": [], "subgraphs": chain, "sources": [{"subgraph": 2, "output": 0}, {"constant": 0}, {"subgraph": 1, "output": 1}, {"input": 0}]}
    model = {"model": "m", "devices": "GPU,CPU", "explanation": "", "properties": {"GPU.NUM_STREAMS": "2"}, "inputs": inputs, "outputs": outputs, "requests": 0, "ways": [way]}
    contents = [("subgraph", bytes(7))] * 3
    constant = ("constant", b"\1\0")
    yield file(model, *contents, constant)
    yield file({**model, "requests": 4, "ways": [{**way, "turns": [0, 2, 1]}, {**way, "share": 0.25}]}, *contents, *contents, constant)
    yield file({**model, "outputs": [], "inputs": [], "ways": [{"share": 2, "turns": [], "subgraphs": [], "sources": []}]})
    yield file({**model, "ways": [{**way, "subgraphs": chain[::-1]}]}, *contents, constant)
    yield file([], *contents)


def modelinfo_files():
    """Files as GStreamer's documentation has them, for the model of modelinfo.cpp."""
    head = "[modelinfo]\nversion=1.0\ngroup-id={}\n\n"
    picture = "[images]\nid=images\ntype=float32\ndims=1,3,64,64\ndir=input\nranges={}\n"
    output = "\n[{}]\nid={}\ntype=float32\ndims={}\ndir=output\ndims-order={}\n"
    masks = output.format("output0", "yolo-v8-segmentation-out-detections", "1,116,84", "col-major") + \
        output.format("output1", "yolo-v8-segmentation-out-protos", "-1,32,16,16", "row-major")
    yield (head.format("yolo-v8-segmentation-out") + picture.format("0.0,1.0") + masks).encode()
    yield (head.format("a") + picture.format("0,255;-1,1;16,235") + "resize_type=fit_to_window_letterbox\npad_value=114\n").encode()
    for name in ("yolo-v8-out", "yolo-v8-pose-out", "yolo-26-end2end-out", "ssd-mobilenet-v1-variant-1-out-boxes", "classification-generic-out",
                 "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", "Gst.Model.ObjectDetector.Classes", "PLACEHOLDER", "\\s\\n"):
        yield (head.format(name) + output.format("output0", name, "1,116,84", "col-major") + output.format("x", name, "1,32,-1,16", "")).encode()
    yield b"[modelinfo]\nversion=2.0\n"
    yield b"# none\n"


def metrics_files():
    """Behind a byte that says in how many parts they are sent: requests to the tracer heterometrics, right ones and others."""
    for parts in (0, 3, 7):
        head = bytes([parts])
        for method in ("GET", "HEAD", "POST", "get", "OPTIONS"):
            for path in ("/metrics", "/metrics?a=%41%", "/health/live", "/health/ready", "/", "/%00", "*"):
                yield head + f"{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        for accept in ("text/plain", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5", "*/*"):
            yield head + f"GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: {accept}\r\nConnection: close\r\n\r\n".encode()
        yield head + b"GET /metrics HTTP/1.0\r\n\r\n"
        yield head + b"POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
        yield head + b"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
        yield head + b"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        yield head + b"GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        yield head + b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n"
        yield head + "GET /Süd-\U0001F6A6 HTTP/1.1\r\nHost: a\r\n\r\n".encode() + b"\xff\xed\xa0\x80\xf5\xc0"


def zones_files():
    """Configurations of heteroanalytics, and what its properties take."""
    corner = [{"x": 1, "y": 1}, {"x": 30.5, "y": 2}, {"x": 20, "y": 40}]
    polygon = {"id": "a", "type": "polygon", "points": corner, "classes": ["person"], "max-objects": 1, "crowd-time": 0.1, "dwell-limit": 2,
               "object-retention": 1, "track-dwell-time": True, "color": {"r": 1, "g": 2, "b": 3}, "thickness": 2}
    circle = {"id": "b", "type": "circle", "center": {"x": 0.5, "y": 0.5}, "radius": 0.25, "units": "relative", "anchor": "center"}
    line = {"id": "c", "points": corner[:2], "direction": "forward", "hysteresis": 3}
    shared = {"units": "pixels", "grace-time": 2, "zones": [polygon, circle], "tripwires": [line]}
    for content in (shared, {"cameras": {"door": shared, "yard": {"units": "relative", "classes": ["a"]}}}, [polygon], [circle], [line], {}, []):
        yield json.dumps(content).encode()


def write(folder, files, rng, variants):
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(set(files))
    for number, data in enumerate(files):
        if len(data) > MAX_BYTES * 4:
            continue
        (folder / f"{number:05}").write_bytes(data)
        for variant, changed in enumerate(damaged(rng, data, variants)):
            (folder / f"{number:05}_{variant}").write_bytes(changed)
    print(f"{folder.name}: {len(files)} files, {variants} damaged variants each")


def dictionary(path, words):
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)), encoding="utf-8")


def keys(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner)
    elif isinstance(value, str) and len(value) < 32 and value.isidentifier():
        yield value


def main():
    root, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    rng = random.Random(1)
    procs = [p.read_bytes() for p in sorted((root / "pipelines/models").glob("*.json"))]
    labels = [p.read_bytes() for p in sorted((root / "pipelines/models").rglob("*.txt"))] + [b"a\nb\n", b"\xef\xbb\xbfa\r\nb", b"\xff\n", b""]
    texts = ["CPU", "GPU.1", "HETERO:GPU,CPU", "nstreams=2,nthreads=4", "a=b,c", "1,3,?,?", "[1,3,-1,4]", "()", "9223372036854775807,2"]
    write(out / "onnx", onnx_files(), rng, 1)
    write(out / "openvino_ir", ir_files(root), rng, 1)
    write(out / "model_proc", procs, rng, 4)
    write(out / "modelinfo", modelinfo_files(), rng, 20)
    write(out / "labels", labels, rng, 4)
    write(out / "npy", npy_files(), rng, 1)
    write(out / "exported", exported_files(), rng, 8)
    write(out / "exported_split", exported_split_files(), rng, 200)
    write(out / "device_text", [t.encode() for t in texts], rng, 4)
    write(out / "vpu_messages", message_files(), rng, 20)
    write(out / "vpu_host", host_files(), rng, 40)
    write(out / "vpu_session", session_files(), rng, 60)
    write(out / "metrics_http", metrics_files(), rng, 60)
    write(out / "zones", zones_files(), rng, 60)
    properties = re.findall(r'{"([A-Za-z0-9_.-]+)"', (root / "inference/devices/properties.cpp").read_text(encoding="utf-8"))
    dictionary(out / "model_proc.dict", {k for p in procs for k in keys(json.loads(p))} | {"null", "true", "false", "1e400"})
    dictionary(out / "modelinfo.dict", {"version=1.0", "group-id=", "id=", "dims=", "dims-order=", "type=", "dir=", "ranges=", "PLACEHOLDER", "[modelinfo]",
                                        "[output0]", "yolo-v8-out", "ssd-mobilenet-v1-variant-1-out-classes", "-1", ";"})
    dictionary(out / "openvino_ir.dict", set(re.findall(r"[A-Za-z_-]{3,}", IR_ATTRIBUTES)) | set(ir_types(root)) | set(IR_MODES) |
               {"<layer", "<edge", "<port", "<dim>", "</dim>", "<body>", "<port_map>", "<back_edges>", "TensorIterator", "If", "Loop", "<!DOCTYPE", "&#x41;"})
    dictionary(out / "onnx.dict", {"ai.onnx", "ai.onnx.ml", "com.microsoft", "Constant", "location", "offset", "length"} | {s.name for s in onnx.defs.get_all_schemas()})
    dictionary(out / "npy.dict", {"descr", "fortran_order", "shape", "True", "False", "<f4", "|u1", ">i8"})
    dictionary(out / "device_text.dict", {*properties, "CPU", "REF", "GPU", "HETERO", "MULTI", "=", ",", ":"})
    dictionary(out / "exported.dict", {"device", "CPU", "sections", "name", "bytes", "checksum", "18446744073709551615"})
    dictionary(out / "exported_split.dict", {"subgraph", "split", "constant", "input", "output", "sources", "turns", "share", "ways", "float32", "undefined", "picture", "-1"})
    for target in ("vpu_messages", "vpu_host", "vpu_session"):
        dictionary(out / f"{target}.dict", {"float32", "float16", "int64", "Conv", "\\x40\\x00\\x00\\x00\\x00\\x00\\x00\\x00"})
    dictionary(out / "metrics_http.dict", {"GET", "HEAD", "POST", "/metrics", "/health/ready", "HTTP/1.1", "HTTP/1.0", "Accept:", "text/plain", "Host:",
                                           "application/openmetrics-text", "Content-Length:", "Transfer-Encoding: chunked", "Connection:", "Expect:"})
    dictionary(out / "zones.dict", {k for f in zones_files() for k in keys(json.loads(f))} | {"1e400", "-1", "center", "relative", "door"})
    dictionary(out / "labels.dict", {"\\x0a", "\\x0d\\x0a", "\\xef\\xbb\\xbf"})


if __name__ == "__main__":
    main()
