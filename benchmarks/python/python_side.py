"""One measurement in the interpreter that is measured, which has one of the packages: python_side.py REQUEST.

REQUEST is a JSON object: "engine", "hetero" or "openvino"; "measure", a function of MEASURES; "model", "config" and "seconds". Prints a JSON object.
The calls are the same for both: only the package differs.
"""
import importlib
import json
import sys
import threading
import time

import numpy


def compile_model(api, model, config):
    """With a first dimension of 1 where the file leaves it open."""
    core = api.Core()
    read = core.read_model(model)
    shapes = {}
    for port in read.inputs:
        dims = [1 if k == 0 and dim.is_dynamic else dim.get_length() for k, dim in enumerate(port.partial_shape)]
        shapes[port.any_name] = dims
    if any(port.partial_shape.is_dynamic for port in read.inputs):
        read.reshape(shapes)
    return core.compile_model(read, "CPU", config)


def make_inputs(compiled):
    random = numpy.random.default_rng(1)
    return [random.random(list(port.shape)).astype(port.element_type.to_dtype()) for port in compiled.inputs]


def microseconds(seconds, clock, call):
    """Of a call by this clock: the median of batches of 100."""
    for _ in range(100):
        call()
    batches, end = [], time.perf_counter() + seconds
    while True:
        start = clock()
        for _ in range(100):
            call()
        batches.append((clock() - start) * 1e4)
        if time.perf_counter() >= end:
            return sorted(batches)[len(batches) // 2]


def measure_ways(api, compiled, inputs, seconds):
    """Microseconds of a call by way, of asynchronous ones the processor time of all threads; the names are those of request_ways.h."""
    request, array = compiled.create_infer_request(), inputs[0]

    def async_copied():
        request.start_async(array)
        request.wait()

    def async_shared():
        request.start_async(array, share_inputs=True)
        request.wait()

    ways = {"alone": lambda: request.infer(share_outputs=True), "copied": lambda: request.infer(array), "async copied": async_copied,
            "shared": lambda: request.infer(array, share_inputs=True, share_outputs=True), "called": lambda: compiled(array), "async shared": async_shared}
    return {name: microseconds(seconds, time.process_time if name.startswith("async") else time.perf_counter, call) for name, call in ways.items()}


def measure_queue(api, compiled, inputs, seconds):
    """Inferences/s of an AsyncInferQueue whose callback reads a value of every result."""
    requests = api.AsyncInferQueue(compiled)
    read = []
    requests.set_callback(lambda request, number: read.append((number, float(request.get_output_tensor(0).data.flat[0]))))
    for length in (min(0.3, seconds), seconds):
        read.clear()
        started, start = 0, time.perf_counter()
        while time.perf_counter() < start + length:
            requests.start_async(inputs, started)
            started += 1
        requests.wait_all()
        rate = started / (time.perf_counter() - start)
        if sorted(number for number, _ in read) != list(range(started)):
            raise SystemExit(f"{len(read)} callbacks for {started} executions")
    return {"rate": rate, "requests": len(requests)}


def measure_threads(api, compiled, inputs, seconds):
    """Inferences/s of as many threads as there are streams, each with a request of its own."""
    requests = [compiled.create_infer_request() for _ in range(int(compiled.get_property("NUM_STREAMS")))]

    def work(request, counts, k, end):
        while time.perf_counter() < end:
            request.infer(inputs, share_inputs=True, share_outputs=True)
            counts[k] += 1

    for length in (min(0.3, seconds), seconds):
        counts, start = [0] * len(requests), time.perf_counter()
        threads = [threading.Thread(target=work, args=(request, counts, k, start + length)) for k, request in enumerate(requests)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = sum(counts) / (time.perf_counter() - start)
    return {"rate": rate}


MEASURES = {"ways": measure_ways, "queue": measure_queue, "threads": measure_threads}


def main():
    asked = json.loads(sys.argv[1])
    api = importlib.import_module(asked["engine"])
    compiled = compile_model(api, asked["model"], asked["config"])
    found = MEASURES[asked["measure"]](api, compiled, make_inputs(compiled), asked["seconds"])
    shapes = ",".join(f"{port.any_name}[{','.join(map(str, port.shape))}]" for port in compiled.inputs)
    print(json.dumps({**found, "shapes": shapes}))


if __name__ == "__main__":
    main()
