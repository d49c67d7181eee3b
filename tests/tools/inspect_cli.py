#!/usr/bin/env python3
"""`hetero inspect` as a user meets it: inspect_cli.py HETERO ROOT CASE."""
import configparser
import json
import os
import pathlib
import re

from hetero_cli import expect, run_case

CASES = {}


def case(function):
    """A case gets a folder, which is removed."""
    CASES[function.__name__] = function
    return function


@case
def decided(hetero, folder):
    """What was decided is a descriptor, with which the model finds the same."""
    data = hetero.shared_data()
    model, picture = data / "models/onnx/yolox_nano.onnx", data / "images/dog_bike_car.jpg"
    descriptor, drawn = folder / "yolox.json", folder / "found.png"
    text = hetero.run("inspect", model, "--image", picture, "--output", drawn, "--model-proc", descriptor).stdout
    expect(text, "read by yolo_x", "as is usual with YOLOX", "3 objects")
    assert drawn.read_bytes().startswith(b"\x89PNG") and drawn.stat().st_size > 10000
    assert hetero.run("run", model, "--image", picture).stdout == hetero.run("run", model, "--image", picture, "--model-proc", descriptor).stdout
    again = hetero.run("inspect", model, "--described-by", descriptor).stdout
    expect(again, "the model-proc file says so")


@case
def drawn(hetero, folder):
    """The annotated picture is the picture but for boxes, their labels and what is in them, in colours of the classes."""
    import cv2
    import numpy
    data = hetero.shared_data()
    model, file = data / "models/onnx/yolox_nano.onnx", folder / "picture.png"
    # Decoders of JPEG differ.
    cv2.imwrite(str(file), cv2.imread(str(data / "images/dog_bike_car.jpg")))
    found = [line for line in hetero.run("run", model, "--image", file).stdout.splitlines() if ") - (" in line]
    hetero.run("inspect", model, "--image", file, "--output", folder / "found.png")
    before, after = cv2.imread(str(file)).astype(int), cv2.imread(str(folder / "found.png")).astype(int)
    assert before.shape == after.shape, after.shape
    changed = numpy.abs(before - after).max(axis=2) > 0
    assert len(found) == 3, found
    near = numpy.zeros_like(changed)
    for line in found:
        sides = [float(v) for v in re.findall(r"-?\d+\.\d", line.split("  ")[-1])]
        x0, y0, x1, y1 = map(round, sides)
        # What is printed is rounded already: x.5 is drawn at either side.
        either = [{round(v - 0.05), round(v + 0.05)} for v in sides]
        for y, rows in ((y0, either[1]), (y1, either[3])):
            assert any(changed[row, x0 + 5:x1 - 5].mean() > 0.95 for row in rows), f"no line at row {y}: {line}"
            near[y - 3:y + 4, x0 - 3:x1 + 4] = True
        for x, columns in ((x0, either[0]), (x1, either[2])):
            assert any(changed[y0 + 5:y1 - 5, column].mean() > 0.95 for column in columns), f"no line at column {x}: {line}"
            near[y0 - 3:y1 + 4, x - 3:x + 4] = True
        near[max(0, y0 - 40):y0 + 20, x0 - 3:x0 + 250] = True  # the label
    assert not (changed & ~near).any(), numpy.argwhere(changed & ~near)[:5]


@case
def without_fonts(hetero, folder):
    """Pango would end the program."""
    data = hetero.shared_data()
    (folder / "fonts.conf").write_text(f"<fontconfig><cachedir>{folder}</cachedir></fontconfig>")
    os.environ["FONTCONFIG_FILE"] = str(folder / "fonts.conf")
    told = hetero.run("inspect", data / "models/onnx/yolox_nano.onnx", "--image", data / "images/dog_bike_car.jpg", "--output", folder / "a.png", status=1)
    expect(told.stderr, "fontconfig finds no font", "fonts-dejavu-core")
    assert not (folder / "a.png").exists()


@case
def as_json(hetero, folder):
    data = hetero.shared_data()
    told = json.loads(hetero.run("inspect", data / "models/onnx/fastestdet_352.onnx", "--json").stdout)
    assert told["decided"] and told["warnings"] == [], told
    assert told["descriptor"]["output_postproc"] == [{"converter": "fastestdet"}], told
    assert told["inputs"] == [{"name": "input.1", "type": "float32", "shape": [1, 3, 352, 352]}], told


@case
def a_person_decides(hetero, folder):
    """1 where pictures are a guess or results are not certain; what fits is told, the likeliest is written."""
    data = hetero.shared_data()
    guess = hetero.run("inspect", data / "models/onnx/squeezenet1.1_fp16.onnx", status=1).stdout
    expect(guess, "read by label", "how pictures get in is a guess")
    descriptor = folder / "digits.json"
    unclear = hetero.run("inspect", data / "models/onnx/samplenet.onnx", "--model-proc", descriptor, status=1).stdout
    expect(unclear, "may be", '{"converter": "label"', '{"converter": "embedding"}', "custom-postproc-lib")
    written = json.loads(descriptor.read_text())["output_postproc"][0]
    assert (written["converter"], written["method"]) == ("label", "softmax"), written


@case
def open_sizes(hetero, folder):
    """A model that leaves the size of pictures open is described with one that works, and that is said; --width and --height say another."""
    model = hetero.shared_data() / "models/onnx/yunet_n_dynamic.onnx"
    descriptor = folder / "sized.json"
    text = hetero.run("inspect", model, "--model-proc", descriptor, status=1).stdout
    expect(text, "read by yunet", "640x640 is taken")
    assert json.loads(descriptor.read_text())["input_preproc"][0]["shape"] == [1, 3, 640, 640]
    sized = hetero.run("inspect", model, "--width", "320", "--height", "256").stdout
    expect(sized, "read by yunet", "float32[1,3,256,320]")
    assert "warning" not in sized, sized


@case
def modelinfo(hetero, folder):
    """Sections as GStreamer's documentation has them; ranges are what 0 and 255 of each channel become."""
    file = folder / "m.modelinfo"
    data = hetero.shared_data()
    told = hetero.run("inspect", data / "models/onnx/nanodet_m_320.onnx", "--modelinfo", file)
    expect(told.stderr, f"{file}: its channels are B, G, R")
    expect(told.stdout, "tensors    ", "-out: ")
    parser = configparser.ConfigParser()
    parser.read_string(file.read_text())
    assert parser["modelinfo"]["version"] == "1.0" and parser["modelinfo"]["group-id"]
    picture = parser["input.1"]
    assert (picture["type"], picture["dims"], picture["dir"]) == ("float32", "1,3,320,320", "input"), dict(picture)
    ranges = [[float(v) for v in pair.split(",")] for pair in picture["ranges"].split(";")]
    assert len(ranges) == 3 and abs(ranges[0][0] + 103.53 / 57.375) < 1e-4 and abs(ranges[2][1] - (255 - 123.675) / 58.395) < 1e-4, ranges
    assert all(parser[name]["dir"] == "output" for name in parser.sections()[2:])
    faces = json.loads(hetero.run("inspect", data / "models/onnx/ultraface_rfb_320.onnx", "--json").stdout)["tensor_group"]
    assert faces["id"] == "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out", faces
    assert faces["tensors"][1] == {"output": "boxes", "id": "ssd-mobilenet-v1-variant-1-out-boxes", "type": "float32", "shape": [1, 4420, 4],
                                   "dims_order": "row-major"}, faces


@case
def bad_input(hetero, folder):
    expect(hetero.run("inspect", folder / "none.onnx", status=1).stderr, "none.onnx")
    expect(hetero.run("inspect", status=2).stderr, "model")
    kept = folder / "kept.json"
    kept.write_text("mine")
    expect(hetero.run("inspect", hetero.detector, "--image", folder / "none.png", "--model-proc", kept, status=1).stderr, "none.png")
    assert kept.read_text() == "mine"
    expect(hetero.run("inspect", hetero.detector, "--model-proc", folder / "no/such.json", status=1).stderr, "no/such.json")


if __name__ == "__main__":
    run_case(CASES, "inspect_cli.py")
