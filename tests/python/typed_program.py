"""A program as users of OpenVINO write it, for mypy --strict: typed_program.py DETECTOR DESCRIPTOR. What it marks as errors has to be found."""
from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

import hetero as ov
from hetero import properties
from hetero.argument_types import PictureLike
from hetero.preprocess import ColorFormat, PrePostProcessor, ResizeAlgorithm
from hetero.properties import hint

Scores = dict[int, float]


def prepared(core: ov.Core, path: pathlib.Path, height: int, width: int) -> ov.CompiledModel:
    """The model for BGR pictures of bytes of one size."""
    model = core.read_model(path)
    model.reshape({model.input(): [1, *model.input().partial_shape[1:]]})
    steps = PrePostProcessor(model)
    tensor = steps.input().tensor().set_element_type(ov.Type.u8).set_layout(ov.Layout("NHWC")).set_shape([1, height, width, 3])
    tensor.set_color_format(ColorFormat.BGR)
    steps.input().preprocess().convert_element_type(ov.Type.f32).convert_color(ColorFormat.RGB).resize(ResizeAlgorithm.RESIZE_LINEAR)
    steps.input().model().set_layout("NCHW")
    steps.output().tensor().set_element_type(numpy.float32)
    config = {hint.performance_mode: hint.PerformanceMode.THROUGHPUT, properties.inference_num_threads: 2}
    return core.compile_model(steps.build(), "CPU", config)


def best_scores(model: ov.CompiledModel, pictures: list[NDArray[numpy.uint8]]) -> Scores:
    """The best score of each picture, by asynchronous requests."""
    scores: Scores = {}

    def keep(request: ov.InferRequest, number: int) -> None:
        output: NDArray[numpy.float32] = request.get_output_tensor().data
        scores[number] = float(output[..., 4:].max())

    queue = ov.AsyncInferQueue(model, jobs=2)
    queue.set_callback(keep)
    for number, picture in enumerate(pictures):
        queue.start_async({0: picture[numpy.newaxis]}, userdata=number)
    queue.wait_all()
    return scores


def describe(detector: ov.VisionModel, picture: PictureLike) -> list[str]:
    """A line per object that lives."""
    found = ov.Tracker().update(detector(picture, region=(0, 0, 160, 96), threshold=0.2))
    return [f"{row['label']} {row['score']:.2f} at {row['box'][0]:.0f},{row['box'][1]:.0f}" for row in found]


def main(path: pathlib.Path, descriptor: pathlib.Path) -> None:
    core = ov.Core()
    model = prepared(core, path, 96, 160)
    pictures: list[NDArray[numpy.uint8]] = [numpy.full((96, 160, 3), value, numpy.uint8) for value in (0, 128, 255)]
    result = model([pictures[0][numpy.newaxis]])
    print(", ".join(f"{port.any_name} {port.shape}: {array.shape}" for port, array in result.items()))
    print(sorted(best_scores(model, pictures)), core.available_devices[0], model.get_property("INFERENCE_NUM_THREADS"))
    detector = ov.VisionModel(path, model_proc=descriptor, config=[properties.hint.num_requests(1)])
    for picture, results in detector.stream(pictures, requests=2):
        print(picture.shape, results.picture_size, len(results), describe(detector, picture))


if TYPE_CHECKING:
    def mistakes(core: ov.Core, model: ov.Model, request: ov.InferRequest) -> None:
        core.compile_model(model, 5)  # type: ignore[arg-type]
        core.compile_model(model, config={1: "YES"})  # type: ignore[arg-type]
        model.reshape(224)  # type: ignore[call-overload]
        model.inputs = []  # type: ignore[misc]
        core.read_model("x.onnx").compile("CPU")  # type: ignore[attr-defined]
        request.infer({1.5: [0.0]})  # type: ignore[type-var]
        request.infer("picture.jpg")  # type: ignore[arg-type]
        request.set_callback(best_scores)  # type: ignore[arg-type]
        size: int = request.get_output_tensor().shape  # type: ignore[assignment]
        ov.Tensor(ov.Type.f32)  # type: ignore[call-overload]
        ov.VisionModel("x.onnx", lables=[])  # type: ignore[call-arg]
        ov.InferRequest(model)  # type: ignore[arg-type]
        ov.VisionModel("x.onnx").inspect(text=True)["reader"]  # type: ignore[index]

if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
