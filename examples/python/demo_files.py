"""The demo's models, in the checkout or in the package hetero-doc, and a picture that they understand: what the examples run without arguments."""

from __future__ import annotations

import pathlib
from typing import Optional

FOLDER = pathlib.Path(__file__).resolve().parent
PICTURE = FOLDER / "street.jpg"

_in_checkout = FOLDER.parent.parent / "pipelines/demo/models"
MODELS = _in_checkout if _in_checkout.is_dir() else FOLDER.parent / "models"
DETECTOR = MODELS / "scene_detector.onnx"
CLASSIFIER = MODELS / "scene_attributes.onnx"


def descriptor_of(model: str) -> Optional[str]:
    """The descriptor beside a model (model.json for model.onnx), which says what its results mean; None without one."""
    path = pathlib.Path(model).with_suffix(".json")
    return str(path) if path.is_file() else None
