"""Steps in front of and behind a model that become part of it, as OpenVINO's openvino.preprocess."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Optional, Union

from numpy.typing import NDArray

from hetero._hetero import Model, ModelSteps, Tensor, Type
from hetero.argument_types import PortKey, ShapeLike, TypeLike
from hetero.layout import Layout
from hetero.shapes import to_dimensions

__all__ = ["ColorFormat", "InputInfo", "OutputInfo", "PrePostProcessor", "ResizeAlgorithm"]

LayoutLike = Union[Layout, str]


class ResizeAlgorithm(enum.Enum):
    """How a picture gets another size; pixel centres are at halves."""

    RESIZE_LINEAR = "linear"
    RESIZE_CUBIC = "cubic"
    RESIZE_NEAREST = "nearest"


class ColorFormat(enum.Enum):
    """Order of colours. NV12 and I420 pictures go through VisionModel, which converts them on the device."""

    UNDEFINED = "undefined"
    RGB = "RGB"
    BGR = "BGR"


class InputTensorInfo:
    """What the application gives."""

    def __init__(self) -> None:
        self.element_type: Optional[Type] = None
        self.layout: Optional[Layout] = None
        self.shape: Optional[list[int]] = None
        self.spatial: Optional[tuple[int, int]] = None
        self.color = ColorFormat.UNDEFINED

    def set_element_type(self, type: TypeLike) -> InputTensorInfo:
        """A Type, its name or a dtype of numpy. Raises TypeError."""
        self.element_type = type if isinstance(type, Type) else Type(type)
        return self

    def set_layout(self, layout: LayoutLike) -> InputTensorInfo:
        """A letter per dimension: \"NHWC\". Raises ValueError."""
        self.layout = _layout(layout)
        return self

    def set_shape(self, shape: ShapeLike) -> InputTensorInfo:
        """Its dimensions; -1 for open ones. Raises ValueError, TypeError."""
        self.shape = to_dimensions(shape)
        return self

    def set_spatial_static_shape(self, height: int, width: int) -> InputTensorInfo:
        """In pixels."""
        self.spatial = (height, width)
        return self

    def set_color_format(self, format: ColorFormat, sub_names: Sequence[str] = ()) -> InputTensorInfo:
        """Order of its colours, from which convert_color() goes out."""
        self.color = ColorFormat(format)
        return self

    def set_from(self, tensor: Union[Tensor, NDArray[Any]]) -> InputTensorInfo:
        """Type and shape of an array or Tensor."""
        type: TypeLike = tensor.element_type if isinstance(tensor, Tensor) else tensor.dtype
        return self.set_element_type(type).set_shape(tensor.shape)


class PreProcessSteps:
    """What is done to it, in the order of the calls."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, Any]] = []

    def _add(self, name: str, value: Any = None) -> PreProcessSteps:
        self.steps.append((name, value))
        return self

    def convert_element_type(self, type: Optional[TypeLike] = None) -> PreProcessSteps:
        """None: the model's."""
        return self._add("type", None if type is None else type if isinstance(type, Type) else Type(type))

    def convert_layout(self, layout: Optional[LayoutLike] = None) -> PreProcessSteps:
        """None: the model's."""
        return self._add("layout", None if layout is None else _layout(layout))

    def convert_color(self, format: ColorFormat) -> PreProcessSteps:
        """To RGB or BGR; set_color_format() has to say from which."""
        return self._add("color", ColorFormat(format))

    def resize(self, algorithm: ResizeAlgorithm, height: Optional[int] = None, width: Optional[int] = None) -> PreProcessSteps:
        """To a size in pixels, or to the model's."""
        return self._add("resize", (ResizeAlgorithm(algorithm), height, width))

    def mean(self, values: Union[float, Sequence[float]]) -> PreProcessSteps:
        """Subtracted, per channel."""
        return self._add("mean", _numbers(values))

    def scale(self, values: Union[float, Sequence[float]]) -> PreProcessSteps:
        """Divided by, per channel."""
        return self._add("scale", _numbers(values))

    def reverse_channels(self) -> PreProcessSteps:
        """RGB for BGR."""
        return self._add("reverse")


class InputModelInfo:
    """What the model takes."""

    def __init__(self) -> None:
        self.layout: Optional[Layout] = None

    def set_layout(self, layout: LayoutLike) -> InputModelInfo:
        """A letter per dimension: \"NCHW\". Raises ValueError."""
        self.layout = _layout(layout)
        return self


class InputInfo:
    """One input."""

    def __init__(self) -> None:
        self._tensor = InputTensorInfo()
        self._steps = PreProcessSteps()
        self._model = InputModelInfo()

    def tensor(self) -> InputTensorInfo:
        """What the application gives."""
        return self._tensor

    def preprocess(self) -> PreProcessSteps:
        """What is done to it."""
        return self._steps

    def model(self) -> InputModelInfo:
        """What the model takes."""
        return self._model


class OutputTensorInfo:
    """What the application gets."""

    def __init__(self) -> None:
        self.element_type: Optional[Type] = None

    def set_element_type(self, type: TypeLike) -> OutputTensorInfo:
        """A Type, its name or a dtype of numpy. Raises TypeError."""
        self.element_type = type if isinstance(type, Type) else Type(type)
        return self


class PostProcessSteps:
    """What is done to an output."""

    def __init__(self, tensor: OutputTensorInfo) -> None:
        self._tensor = tensor

    def convert_element_type(self, type: TypeLike) -> PostProcessSteps:
        """As tensor().set_element_type()."""
        self._tensor.set_element_type(type)
        return self


class OutputInfo:
    """One output."""

    def __init__(self) -> None:
        self._tensor = OutputTensorInfo()

    def tensor(self) -> OutputTensorInfo:
        """What the application gets."""
        return self._tensor

    def postprocess(self) -> PostProcessSteps:
        """What is done to it."""
        return PostProcessSteps(self._tensor)


class PrePostProcessor:
    """Describes tensors and steps; build() puts them into the model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._inputs: dict[int, InputInfo] = {}
        self._outputs: dict[int, OutputInfo] = {}

    def input(self, key: Optional[PortKey] = None) -> InputInfo:
        """By number or name; the only one. Raises NotFound, InvalidArgument."""
        return self._inputs.setdefault(self._model.input(key).index, InputInfo())

    def output(self, key: Optional[PortKey] = None) -> OutputInfo:
        """By number or name; the only one. Raises NotFound, InvalidArgument."""
        return self._outputs.setdefault(self._model.output(key).index, OutputInfo())

    def build(self) -> Model:
        """The model that was given, with the steps in it. Raises InvalidArgument for steps that cannot be, and leaves it as it was."""
        steps = ModelSteps(self._model)
        for index, info in self._inputs.items():
            _Plan(self._model, index, info).apply(steps)
        for index, output in self._outputs.items():
            wanted = output.tensor().element_type
            if wanted is not None:
                steps.set_output_type(index, wanted)
        steps.build(self._model)
        return self._model


class _Plan:
    """The steps of one input with type, layout and size on both sides of each, put in from the model outwards."""

    def __init__(self, model: Model, index: int, info: InputInfo) -> None:
        port = model.input(index)
        self.index = index
        self.name = port.any_name
        self.dims = [int(dim) for dim in port.partial_shape]
        self.model_type = port.element_type
        self.tensor = info.tensor()
        self.layout = info.model().layout or _assumed_layout(self.tensor.layout, self.dims)
        self.steps = list(info.preprocess().steps)

    def apply(self, steps: ModelSteps) -> None:
        forward = self._forward()
        if self.layout is not None:
            steps.set_input_layout(self.index, self.layout.letters())
        for name, value in reversed(forward):
            if name == "type":
                steps.set_input_type(self.index, value)
            elif name == "layout":
                before, after = value
                steps.set_input_layout(self.index, f"{after.letters()}->{before.letters()}")
            elif name == "resize":
                algorithm, height, width = value
                steps.resize(self.index, height, width, algorithm.value)
            elif name == "mean":
                steps.normalise(self.index, value, [])
            elif name == "scale":
                steps.normalise(self.index, [], value)
            else:
                steps.reverse(self.index)

    def _forward(self) -> list[tuple[str, Any]]:
        """Steps from the application's tensor to the model, with what each undoes."""
        type_now = self.tensor.element_type or self.model_type
        layout_now = self.tensor.layout or self.layout
        color_now = self.tensor.color
        size_now = self._tensor_size(layout_now)
        done: list[tuple[str, Any]] = []

        def to_type(wanted: Type) -> None:
            nonlocal type_now
            if wanted != type_now:
                done.append(("type", type_now))
                type_now = wanted

        def to_layout(wanted: Optional[Layout]) -> None:
            nonlocal layout_now
            if wanted is not None and layout_now is not None and wanted != layout_now:
                done.append(("layout", (layout_now, wanted)))
                layout_now = wanted

        for name, value in self.steps:
            if name == "type":
                to_type(value or self.model_type)
            elif name == "layout":
                to_layout(value or self.layout)
            elif name == "color":
                if ColorFormat.UNDEFINED in (color_now, value):
                    raise ValueError(f"input '{self.name}': convert_color() needs set_color_format() of the tensor, to RGB or BGR")
                if value != color_now:
                    done.append(("reverse", None))
                color_now = value
            elif name == "resize":
                algorithm, height, width = value
                wanted = (height, width) if height and width else self._model_size()
                # Floats keep what bytes would round, and the model's layout is what devices resize best.
                if type_now.is_integral() and self.model_type.is_real():
                    to_type(self.model_type)
                to_layout(self.layout)
                if size_now is None:
                    raise ValueError(f"input '{self.name}': resize() needs the size of the tensor: set_shape() or set_spatial_static_shape()")
                done.append(("resize", (algorithm, *size_now)))
                size_now = wanted
            else:
                if name in ("mean", "scale") and type_now.is_integral():
                    raise ValueError(f"input '{self.name}': {name}() of a tensor of {type_now.get_type_name()}; "
                                     "convert_element_type() to f32 comes first")
                done.append((name, value))
        to_layout(self.layout)
        to_type(self.model_type)
        if size_now is not None and self.layout is not None and self.layout.has_name("H") and -1 not in self._model_size() \
                and size_now != self._model_size():
            raise ValueError(f"input '{self.name}': the tensor is {size_now[1]}x{size_now[0]} pixels and the model takes "
                             f"{self._model_size()[1]}x{self._model_size()[0]}; add preprocess().resize()")
        return done

    def _model_size(self) -> tuple[int, int]:
        if self.layout is None or not (self.layout.has_name("H") and self.layout.has_name("W")):
            raise ValueError(f"input '{self.name}': say which dimensions are height and width: model().set_layout(Layout('NCHW'))")
        return self.dims[self.layout.get_index_by_name("H")], self.dims[self.layout.get_index_by_name("W")]

    def _tensor_size(self, layout: Optional[Layout]) -> Optional[tuple[int, int]]:
        if self.tensor.spatial is not None:
            return self.tensor.spatial
        if self.tensor.shape is None:
            return None
        if layout is None or len(layout.letters()) != len(self.tensor.shape):
            raise ValueError(f"input '{self.name}': the tensor's shape {self.tensor.shape} needs a layout with as many letters: "
                             "tensor().set_layout(Layout('NHWC'))")
        if not (layout.has_name("H") and layout.has_name("W")):
            return None
        return self.tensor.shape[layout.get_index_by_name("H")], self.tensor.shape[layout.get_index_by_name("W")]


def _layout(layout: LayoutLike) -> Layout:
    return layout if isinstance(layout, Layout) else Layout(layout)


def _numbers(values: Union[float, Sequence[float]]) -> list[float]:
    return [float(values)] if isinstance(values, (int, float)) else [float(value) for value in values]


def _assumed_layout(tensor: Optional[Layout], dims: list[int]) -> Optional[Layout]:
    """Of the model, where only the tensor's is told: by the place of 1 or 3 channels."""
    if tensor is None or len(dims) != 4 or len(tensor.letters()) != 4:
        return tensor
    return Layout("NCHW") if dims[1] in (1, 3) or dims[3] not in (1, 3) else Layout("NHWC")
