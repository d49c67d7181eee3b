#!/usr/bin/env python3
"""One load of one model by a peer in a fresh process: peer.py openvino|onnxruntime MODEL SHAPES.

Prints the JSON object of load.cpp; load.py starts it. Both peers run on the CPU in float32 without
a cache, everything else as they come.
"""
import json
import resource
import sys
import time

import numpy

TYPES = {"float32": "f4", "float": "f4", "double": "f8", "float64": "f8", "float16": "f2", "int64": "i8", "int32": "i4",
         "int8": "i1", "uint8": "u1", "boolean": "?", "bool": "?", "i64": "i8", "i32": "i4", "f32": "f4", "f16": "f2",
         "f64": "f8", "u8": "u1", "i8": "i1"}


def memory():
    fields = {}
    with open("/proc/self/status") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name in ("VmRSS", "VmHWM", "RssAnon", "RssFile"):
                fields[name] = int(value.split()[0])
    return fields


def processor_ms():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return 1e3 * (usage.ru_utime + usage.ru_stime)


class Load:
    """What is measured between the library's initialisation and the first result."""

    def __init__(self):
        self.result = {}

    def begin(self):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # VmHWM starts again at what is in use now
        self.result["before"] = memory()
        self.time, self.processor = time.perf_counter(), processor_ms()

    def mark(self, name, memory_name=None):
        self.result[name] = {"ms": 1e3 * (time.perf_counter() - self.time), "processor_ms": processor_ms() - self.processor}
        if memory_name:
            self.result[memory_name] = memory()

    def end(self, settings):
        self.result["settings"] = settings
        print(json.dumps(self.result))


def openvino(path, shapes):
    import openvino as ov

    core = ov.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")
    load = Load()
    load.begin()
    model = core.read_model(path)
    load.mark("read")
    if shapes:
        model.reshape(shapes)
    compiled = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    del model
    load.mark("load", "loaded")
    request = compiled.create_infer_request()
    for port in compiled.inputs:
        request.set_tensor(port, ov.Tensor(port.element_type, port.shape))
    request.infer()
    load.mark("first", "inferred")
    load.end({name: str(compiled.get_property(name)) for name in ("INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS")})


def onnxruntime(path, shapes):
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    load = Load()
    load.begin()
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    load.mark("load", "loaded")
    feeds = {}
    for port in session.get_inputs():
        shape = shapes.get(port.name, port.shape)
        feeds[port.name] = numpy.zeros(shape, TYPES[port.type[len("tensor("):-1]])
    session.run(None, feeds)
    load.mark("first", "inferred")
    load.end({"providers": session.get_providers(), "intra_op_num_threads": "default"})


if __name__ == "__main__":
    {"openvino": openvino, "onnxruntime": onnxruntime}[sys.argv[1]](sys.argv[2], json.loads(sys.argv[3]))
