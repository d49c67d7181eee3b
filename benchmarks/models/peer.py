#!/usr/bin/env python3
"""One measurement of one model by a peer in a fresh process: peer.py REQUEST, a JSON object that compare.py writes.

    engine     openvino or onnxruntime
    model      the file; inputs {name: file.npy}, whose shapes are the model's from then on
    mode       latency (one request on all cores) or throughput (as many streams as cores, each with one)
    precision  f32 or bf16, of what is not quantised; ONNX Runtime has f32 only
    cores, seconds; outputs: a folder for output_<k>.npy, or null

Prints a JSON object: read_ms, compile_ms, first_ms, latency_ms (median), p90_ms, p99_ms, fps, rise_kib, settings.
"""
import json
import pathlib
import statistics
import sys
import threading
import time

import numpy


def resident_kib():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def repeat(run, seconds):
    """Times of single runs in ms, until the seconds are over; at least 3."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def latencies(times):
    """Of single runs, by the nearest rank, as `hetero bench` takes percentiles."""
    ordered = sorted(times)
    return {"latency_ms": statistics.median(ordered), **{f"p{share}_ms": ordered[-(-share * len(ordered) // 100) - 1] for share in (90, 99)}}


def save(folder, arrays):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for k, array in enumerate(arrays):
        numpy.save(folder / f"output_{k}.npy", array)


def openvino(request, inputs):
    import openvino as ov

    core = ov.Core()
    core.get_property("CPU", "FULL_DEVICE_NAME")
    throughput = request["mode"] == "throughput"
    settings = {"NUM_STREAMS": str(request["cores"] if throughput else 1), "INFERENCE_NUM_THREADS": str(request["cores"]), "INFERENCE_PRECISION_HINT": request["precision"]}
    before, start = resident_kib(), time.perf_counter()
    model = core.read_model(request["model"])
    read = time.perf_counter()
    model.reshape({name: list(array.shape) for name, array in inputs.items()})
    compiled = core.compile_model(model, "CPU", settings)
    ready = time.perf_counter()
    del model

    first = compiled.create_infer_request()
    for name, array in inputs.items():
        first.set_tensor(name, ov.Tensor(array))
    first.infer()
    done = time.perf_counter()
    result = {"read_ms": 1e3 * (read - start), "compile_ms": 1e3 * (ready - read), "first_ms": 1e3 * (done - start), "rise_kib": resident_kib() - before}
    if request["outputs"]:
        save(request["outputs"], [numpy.array(first.get_output_tensor(k).data) for k in range(len(compiled.outputs))])
    if throughput:
        # Not with requests of our own: one that is started again while its callback returns may hang.
        requests = ov.AsyncInferQueue(compiled, compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        settings["requests"] = str(len(requests))
        for one in requests:
            for name, array in inputs.items():
                one.set_tensor(name, ov.Tensor(array.copy()))
        for length in (min(0.3, request["seconds"]), request["seconds"]):
            start, finished = time.perf_counter(), 0
            while time.perf_counter() < start + length:
                requests.start_async()
                finished += 1
            requests.wait_all()
            result["fps"] = finished / (time.perf_counter() - start)
    else:
        # Outputs where they are: by default they are copied, which neither of the others does.
        def run():
            first.infer(share_outputs=True)

        repeat(run, 0.2)
        result.update(latencies(repeat(run, request["seconds"])))
    for name in ("INFERENCE_PRECISION_HINT", "NUM_STREAMS", "INFERENCE_NUM_THREADS", "PERFORMANCE_HINT", "EXECUTION_MODE_HINT", "ENABLE_CPU_PINNING"):
        settings[name] = str(compiled.get_property(name))
    return result, {"version": ov.get_version(), **settings}


def onnxruntime(request, inputs):
    import onnxruntime as ort

    ort.set_default_logger_severity(3)
    throughput = request["mode"] == "throughput"
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1 if throughput else request["cores"]
    before, start = resident_kib(), time.perf_counter()
    sessions = [ort.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])]
    ready = time.perf_counter()

    def runner(session):
        binding = session.io_binding()
        for name, array in inputs.items():
            binding.bind_cpu_input(name, array)
        for port in session.get_outputs():
            binding.bind_output(port.name)
        return binding, lambda: session.run_with_iobinding(binding)

    binding, run = runner(sessions[0])
    run()
    done = time.perf_counter()
    result = {"read_ms": 0.0, "compile_ms": 1e3 * (ready - start), "first_ms": 1e3 * (done - start), "rise_kib": resident_kib() - before}
    if request["outputs"]:
        save(request["outputs"], binding.copy_outputs_to_cpu())
    if throughput:
        while len(sessions) < request["cores"]:
            sessions.append(ort.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"]))
        runs = [run] + [runner(session)[1] for session in sessions[1:]]
        counts = [0] * len(runs)

        def work(k, end):
            while time.perf_counter() < end:
                runs[k]()
                counts[k] += 1

        for length in (min(0.3, request["seconds"]), request["seconds"]):
            counts[:] = [0] * len(runs)
            start = time.perf_counter()
            threads = [threading.Thread(target=work, args=(k, start + length)) for k in range(len(runs))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            result["fps"] = sum(counts) / (time.perf_counter() - start)
    else:
        repeat(run, 0.2)
        result.update(latencies(repeat(run, request["seconds"])))
    return result, {"version": ort.__version__, "sessions": str(len(sessions)), "intra_op_num_threads": str(options.intra_op_num_threads),
                    "graph_optimization_level": str(options.graph_optimization_level)}


def main():
    request = json.loads(sys.argv[1])
    inputs = {name: numpy.load(file) for name, file in request["inputs"].items()}
    result, settings = {"openvino": openvino, "onnxruntime": onnxruntime}[request["engine"]](request, inputs)
    print(json.dumps({**result, "settings": settings}))


if __name__ == "__main__":
    main()
