"""Ten thousand inferences in every way that Python has for them: nothing may be left.

memory_growth.py [COUNT]: the process must not grow after the first fifth, nor the number of Python's objects.
"""
import gc
import sys

import numpy as np

import hetero
import small_models

#: What the allocator may keep to itself.
ALLOWED_BYTES = 2 << 20
#: Counters and caches of the interpreter.
ALLOWED_OBJECTS = 100


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


class Lent:
    """An array of a library that has DLPack alone."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def ways():
    """name -> a function that does so many inferences."""
    core = hetero.Core()
    compiled = core.compile_model(small_models.chain(), "CPU", {"NUM_STREAMS": 2})
    split = core.compile_model(small_models.chain(), "HETERO:CPU,REF")
    open_sizes = core.compile_model(small_models.chain((1, 4, "height", "width")), "CPU")
    request = compiled.create_infer_request()
    called_back = compiled.create_infer_request()
    called_back.set_callback(lambda data: data.append(1))
    x = np.random.default_rng(1).standard_normal((1, 4, 8, 8)).astype(np.float32)
    vision = hetero.VisionModel(small_models.demo_model("scene_attributes.onnx"), model_proc=small_models.demo_model("scene_attributes.json"))
    picture = np.zeros((64, 64, 3), np.uint8)
    queue = hetero.AsyncInferQueue(compiled, 4)
    queue.set_callback(lambda done, number: done.results[0].sum())

    def infer(count):
        for _ in range(count):
            request.infer({"x": x})

    def shared(count):
        for _ in range(count):
            request.infer(x, share_inputs=True, share_outputs=True)

    def converted(count):
        for _ in range(count):
            request.infer(x.astype(np.float64))

    def call(count):
        for _ in range(count):
            split([x])

    def new_request(count):
        for _ in range(count):
            compiled.infer_new_request(x)

    def asynchronous(count):
        seen = []
        called_back.set_callback(lambda data: data.append(1), seen)
        for _ in range(count):
            called_back.start_async(x, userdata=seen)
            called_back.wait()
        assert len(seen) == count

    def queued(count):
        for number in range(count):
            queue.start_async(x, number)
        queue.wait_all()

    def new_queue(count):
        for number in range(count // 10):
            other = hetero.AsyncInferQueue(compiled, 2)
            other.set_callback(lambda done, data, other=other: None)
            other.start_async(x, number)
            other.wait_all()
            del other
        gc.collect()

    def tensors(count):
        for _ in range(count):
            request.set_tensor("x", hetero.Tensor(x, shared_memory=True))
            request.set_tensor("y", np.empty_like(x))
            request.infer()
            np.from_dlpack(request.get_output_tensor())

    def lent(count):
        for _ in range(count):
            request.infer(Lent(x), share_inputs=True)

    def other_sizes(count):
        for number in range(count):
            side = 4 + number % 2
            open_sizes(np.zeros((1, 4, side, side), np.float32))

    def failures(count):
        for _ in range(count):
            for bad in (np.zeros(3, np.float32), "text", {"nothing": x}, np.zeros((1, 4, 8, 8), complex)):
                try:
                    request.infer(bad)
                except (hetero.HeteroError, TypeError, ValueError):
                    pass

    def pictures(count):
        for _ in range(count):
            result = vision(picture)
            assert len(result.objects) == 0 and len(result.classifications) > 0

    def pictures_on_their_way(count):
        for _, result in vision.stream((picture for _ in range(count)), requests=3):
            assert result.classifications

    return {function.__name__: function for function in (
        infer, shared, converted, call, new_request, asynchronous, queued, new_queue, tensors, lent, other_sizes, failures, pictures,
        pictures_on_their_way)}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    grown = []
    for name, run in ways().items():
        run(count // 5)
        gc.collect()
        objects, resident = len(gc.get_objects()), resident_bytes()
        run(count - count // 5)
        gc.collect()
        more_objects, more_bytes = len(gc.get_objects()) - objects, resident_bytes() - resident
        print(f"{name:<22} {count} inferences: {more_bytes / 1024:8.0f} KiB, {more_objects} objects more", flush=True)
        if more_objects > ALLOWED_OBJECTS or (more_bytes > ALLOWED_BYTES and "--bytes" in sys.argv[2:]):
            grown.append(name)
    if grown:
        sys.exit(f"these grow: {', '.join(grown)}")


if __name__ == "__main__":
    main()
