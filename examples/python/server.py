#!/usr/bin/env python3
"""Objects on pictures over HTTP, with FastAPI.

    server.py [--model MODEL] [--model-proc DESCRIPTOR] [--device DEVICE] [--host ADDRESS] [--port PORT]

    curl --data-binary @street.jpg 'http://127.0.0.1:8000/objects?threshold=0.6'
    curl http://127.0.0.1:8000/health

One VisionModel serves all requests: endpoints that are plain functions run in FastAPI's pool of threads, threads may share a model, and it
lets go of the GIL while it computes.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Optional

# Of a picture that is to be decoded: a small upload may hold a very large one. OpenCV reads it when it is loaded.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(50_000_000))

import cv2
import fastapi
import hetero
import numpy
import uvicorn

import demo_files

MAX_UPLOAD_BYTES = 20_000_000


async def uploaded_bytes(request: fastapi.Request) -> bytes:
    """The body of a request, up to a limit."""
    received = bytearray()
    async for part in request.stream():
        received += part
        if len(received) > MAX_UPLOAD_BYTES:
            raise fastapi.HTTPException(413, f"a picture may have {MAX_UPLOAD_BYTES} bytes")
    return bytes(received)


def decode(content: bytes) -> numpy.ndarray:
    """JPEG, PNG and what else OpenCV reads, as BGR. Raises HTTPException 400."""
    picture: Optional[numpy.ndarray] = None
    try:
        picture = cv2.imdecode(numpy.frombuffer(content, numpy.uint8), cv2.IMREAD_COLOR) if content else None
    except cv2.error as error:
        raise fastapi.HTTPException(400, f"OpenCV does not decode the picture: {error.err}") from error
    if picture is None:
        raise fastapi.HTTPException(400, f"the {len(content)} bytes are no picture that OpenCV decodes; send a JPEG or PNG as the body")
    return picture


def make_app(model: hetero.VisionModel, device: str) -> fastapi.FastAPI:
    app = fastapi.FastAPI(title="Objects on pictures")

    @app.get("/health")
    def health() -> dict[str, Any]:
        width, height = model.input_size
        return {"status": "ready", "device": device, "input_size": [width, height], "labels": model.labels}

    @app.post("/objects")
    def objects(content: bytes = fastapi.Depends(uploaded_bytes), threshold: float = 0.0) -> dict[str, Any]:
        picture = decode(content)
        try:
            result = model(picture, threshold=threshold)
        except hetero.exceptions.InvalidArgument as error:
            raise fastapi.HTTPException(400, str(error)) from error
        except hetero.HeteroError as error:
            raise fastapi.HTTPException(500, str(error)) from error
        width, height = result.picture_size
        found = [{"label": str(one["label"]), "score": round(float(one["score"]), 4), "box": [round(float(side), 1) for side in one["box"]]}
                 for one in result]
        return {"width": width, "height": height, "objects": found}

    return app


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(demo_files.DETECTOR), help="ONNX or OpenVINO IR")
    parser.add_argument("--model-proc", help="says what the model's results mean; by default the .json beside the model, if there is one")
    parser.add_argument("--device", default="CPU", help="CPU, GPU, HETERO:GPU,CPU ...")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="0: a free one")
    options = parser.parse_args()
    descriptor = options.model_proc or demo_files.descriptor_of(options.model)
    model = hetero.VisionModel(options.model, device=options.device, model_proc=descriptor)
    uvicorn.run(make_app(model, options.device), host=options.host, port=options.port)


if __name__ == "__main__":
    try:
        main()
    except hetero.HeteroError as error:
        sys.exit(f"server.py: {error}")
