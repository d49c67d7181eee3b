#!/usr/bin/env python3
"""What this project finds on pictures, by its C interface.

usage: ours.py LIBRARY JOB RESULT

JOB is a JSON object: the model's file, its model_proc or null, a list of pictures with their thresholds, where masks end
(MASK_ENDS), and a file of labels or null. RESULT takes a pickled list
of a Found for each picture, or the text of what was refused. In a process of its own, whose stderr has the warnings.
"""

import ctypes
import json
import pickle
import sys
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path

import numpy as np
from found import Found, Object
from pictures import pixels

RGB = 3
# The first pixel within the edge of a box, and the first behind it: by the middle of a pixel, or by its upper left corner.
MASK_ENDS = {"middle": np.round, "corner": np.ceil}
NUMPY_TYPES = {1: np.float32, 2: np.float16, 3: np.float64, 4: np.int8, 5: np.uint8, 6: np.int32, 7: np.int64, 8: np.bool_}


def struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [("struct_size", c_uint32), *fields]})


def made(kind, **values):
    return kind(struct_size=ctypes.sizeof(kind), **values)


Property = struct("Property", ("name", c_char_p), ("value", c_char_p))
BOX = [(name, c_float) for name in ("x_min", "y_min", "x_max", "y_max")]
Settings = struct("Settings", ("model", c_char_p), ("model_proc", c_char_p), ("labels_file", c_char_p), ("device", c_char_p), ("properties", c_void_p),
                  ("property_count", c_size_t), ("picture_width", c_int32), ("picture_height", c_int32), ("custom_library", c_char_p))
Picture = struct("Picture", ("format", c_int32), ("width", c_int32), ("height", c_int32), ("matrix", c_int32), ("full_range", c_int32),
                 ("planes", c_void_p * 4), ("stride_bytes", c_int64 * 4), ("size_bytes", c_uint64 * 4), ("release", c_void_p), ("user", c_void_p))
Counts = struct("Counts", *[(name, c_size_t) for name in ("objects", "classes", "keypoints", "segments", "tensors")])
FoundObject = struct("FoundObject", *BOX, ("confidence", c_float), ("label_id", c_int32), ("label", c_char_p), ("rotation", c_float),
                     ("point_count", c_uint32), ("points", POINTER(c_float)), ("mask_width", c_int32), ("mask_height", c_int32), ("mask", POINTER(c_float)))
FoundClass = struct("FoundClass", ("attribute", c_char_p), ("label", c_char_p), ("label_id", c_int32), ("confidence", c_float))
FoundKeypoints = struct("FoundKeypoints", ("format", c_char_p), ("confidence", c_float), ("point_count", c_uint32), ("points", POINTER(c_float)),
                        ("confidences", POINTER(c_float)))
FoundSegments = struct("FoundSegments", ("attribute", c_char_p), *BOX, ("width", c_int32), ("height", c_int32), ("class_ids", POINTER(c_uint16)))
FoundTensor = struct("FoundTensor", ("attribute", c_char_p), ("layer", c_char_p), ("format", c_char_p), ("type", c_int32), ("rank", c_uint32),
                     ("shape", POINTER(c_int64)), ("data", c_void_p), ("size_bytes", c_uint64))


class Refused(Exception):
    pass


class Model:
    def __init__(self, library, file, model_proc, mask_ends, labels_file=None):
        self.first_pixels = MASK_ENDS[mask_ends]
        self.library = ctypes.CDLL(library)
        self.library.het_last_error.restype = c_char_p
        core, self.model, self.request = c_void_p(), c_void_p(), c_void_p()
        self.call("het_core_open", byref(core))
        in_float = made(Property, name=b"EXECUTION_MODE_HINT", value=b"ACCURACY")
        settings = made(Settings, model=file.encode(), model_proc=model_proc.encode() if model_proc else None,
                        labels_file=labels_file.encode() if labels_file else None,
                        properties=ctypes.addressof(in_float), property_count=1)
        self.call("het_vision_model_load", core, byref(settings), byref(self.model))
        self.call("het_vision_model_create_request", self.model, byref(self.request))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments) != 0:
            raise Refused(self.library.het_last_error().decode())

    def all_of(self, results, name, kind, count):
        for index in range(count):
            value = made(kind)
            self.call(f"het_results_{name}", results, c_size_t(index), byref(value))
            yield value

    def find(self, file, threshold):
        image = np.ascontiguousarray(pixels(file))
        height, width, _ = image.shape
        picture = made(Picture, format=RGB, width=width, height=height)
        picture.planes[0], picture.stride_bytes[0], picture.size_bytes[0] = image.ctypes.data, 3 * width, image.nbytes
        self.call("het_vision_model_set_picture", self.model, self.request, byref(picture), None, c_size_t(0))
        self.call("het_request_infer", self.request)
        results, counts = c_void_p(), made(Counts)
        self.call("het_vision_model_results", self.model, self.request, width, height, None, c_size_t(0), c_float(threshold), byref(results))
        self.call("het_results_counts", results, byref(counts))
        found = Found(objects=[self.object(o, width, height) for o in self.all_of(results, "object", FoundObject, counts.objects)])
        if counts.classes:
            # A label without an id is free text.
            found.classes = [(c.label_id if c.label_id >= 0 else c.label.decode(), c.confidence)
                             for c in self.all_of(results, "class", FoundClass, counts.classes)]
        if counts.segments:
            part = next(self.all_of(results, "segments", FoundSegments, 1))
            found.class_map = self.over_picture(part, width, height)
        for body in self.all_of(results, "keypoints", FoundKeypoints, counts.keypoints):
            found.objects.append(Object((0.0, 0.0, float(width), float(height)), body.confidence, 0, points=array(body.points, (body.point_count, 2))))
        for tensor in self.all_of(results, "tensor", FoundTensor, counts.tensors):
            values = np.frombuffer(ctypes.string_at(tensor.data, tensor.size_bytes), NUMPY_TYPES[tensor.type])
            values = values.reshape([tensor.shape[i] for i in range(tensor.rank)]).astype(np.float32)
            if tensor.format == b"depth_map":
                found.depth = values.reshape(values.shape[-2:])
            elif tensor.format != b"depth_metrics":
                found.values = values.ravel()
        self.library.het_results_release(results)
        return found

    def object(self, o, width, height):
        box = (o.x_min, o.y_min, o.x_max, o.y_max)
        mask = None
        if o.mask_width:
            values = array(o.mask, (o.mask_height, o.mask_width))
            mask = np.zeros((height, width), bool)
            columns, rows = (np.clip(self.first_pixels([box[i], box[i + 2]]).astype(int), 0, limit) for i, limit in ((0, width), (1, height)))
            if box[2] > box[0] and box[3] > box[1] and rows[1] > rows[0] and columns[1] > columns[0]:
                mask[rows[0]:rows[1], columns[0]:columns[1]] = stretched(values, box, columns, rows) >= 0.5
        points = array(o.points, (o.point_count, 2)) if o.point_count else None
        return Object(box, o.confidence, o.label_id, o.rotation or None, points, mask)

    @staticmethod
    def over_picture(part, width, height):
        ids = np.ctypeslib.as_array(part.class_ids, (part.height, part.width)).astype(np.int64)
        if np.allclose((part.x_min, part.y_min, part.x_max, part.y_max), (0, 0, width, height), atol=0.5):
            return ids
        columns = ((np.arange(width) + 0.5 - part.x_min) / (part.x_max - part.x_min) * part.width).astype(int)
        rows = ((np.arange(height) + 0.5 - part.y_min) / (part.y_max - part.y_min) * part.height).astype(int)
        return ids[np.clip(rows, 0, part.height - 1)[:, None], np.clip(columns, 0, part.width - 1)[None, :]]


def array(pointer, shape):
    return np.ctypeslib.as_array(pointer, shape).astype(np.float64)


def stretched(values, box, columns, rows):
    """A mask's values at the pixels of a part of the picture, between which it is linear."""
    import cv2

    x = (np.arange(*columns) + 0.5 - box[0]) / (box[2] - box[0]) * values.shape[1] - 0.5
    y = (np.arange(*rows) + 0.5 - box[1]) / (box[3] - box[1]) * values.shape[0] - 0.5
    x, y = np.meshgrid(x.astype(np.float32), y.astype(np.float32))
    return cv2.remap(values.astype(np.float32), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def main():
    library, job, result = sys.argv[1:]
    job = json.loads(Path(job).read_text())
    try:
        model = Model(library, job["model"], job["model_proc"], job["mask_ends"], job["labels_file"])
        found = [model.find(picture, threshold) for picture, threshold in job["pictures"]]
    except Refused as refusal:
        found = str(refusal)
    Path(result).write_bytes(pickle.dumps(found))


if __name__ == "__main__":
    main()
