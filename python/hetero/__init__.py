"""Inference for vision models on CPU, GPU and VPU, or split over them.

    import hetero

    model = hetero.VisionModel("yolox_nano.onnx", device="HETERO:GPU,CPU")
    print(model(picture).objects)

Core, Model, CompiledModel, InferRequest, AsyncInferQueue and what belongs to them are named as in OpenVINO's Python API, so that programs
move over by importing hetero instead; docs/python.md tells what differs.
"""

from __future__ import annotations

from typing import Optional, Union

from hetero import argument_types as argument_types
from hetero import exceptions as exceptions
from hetero import preprocess as preprocess
from hetero import properties as properties
from hetero._hetero import AsyncInferQueue, CompiledModel, ConstOutput, Core, InferRequest, Model, Node, Output, RTMap, Tensor, Type, VariableState
from hetero._hetero import __version__ as __version__
from hetero._hetero import save_model
from hetero.argument_types import Config, ModelSource
from hetero.exceptions import HeteroError
from hetero.layout import Layout
from hetero.placement import NodeSupport, Subgraph, Version
from hetero.profiling import ProfilingInfo
from hetero.results import InferResult
from hetero.shapes import Dimension, PartialShape, Shape
from hetero.vision import PendingVisionResult, Tracker, VisionModel, inspect
from hetero.vision_results import VisionResult

__all__ = [
    "AsyncInferQueue", "CompiledModel", "ConstOutput", "Core", "Dimension", "HeteroError", "InferRequest", "InferResult", "Layout", "Model",
    "Node", "NodeSupport", "Output", "PartialShape", "PendingVisionResult", "ProfilingInfo", "RTMap", "Shape", "Subgraph", "Tensor", "Tracker",
    "Type", "VariableState", "Version", "VisionModel", "VisionResult", "argument_types", "compile_model", "exceptions",
    "get_version", "inspect", "preprocess", "properties", "save_model",
]


def compile_model(model: Union[Model, ModelSource], device_name: Optional[str] = None, config: Optional[Config] = None) -> CompiledModel:
    """Core().compile_model() in one step."""
    return Core().compile_model(model, device_name, config)


def get_version() -> str:
    """Of the library."""
    return __version__
