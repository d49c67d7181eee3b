#!/usr/bin/env python3
"""`hetero accuracy` as a user meets it: accuracy_cli.py HETERO ROOT CASE.

Uses the demo's models and scenes that it draws, so a clone alone is enough.
"""
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).with_name("accuracy")))

from evaluate_set import difference, evaluate_set, names  # noqa: E402
from hetero_cli import expect, run_case  # noqa: E402
from random_sets import draw_set, fingerprint  # noqa: E402

CASES = {}


def case(function):
    """A case gets a folder, which is removed."""
    CASES[function.__name__] = function
    return function


def draw_scenes(hetero, folder, scenes=3, frames=4):
    """The datasets of pipelines/demo/dataset.py: detection and colors."""
    script = hetero.root / "pipelines/demo/dataset.py"
    subprocess.run([sys.executable, str(script), "--output", str(folder), "--scenes", str(scenes), "--frames", str(frames)],
                   check=True, capture_output=True, timeout=300)
    return folder / "detection"


def scores(done):
    return [column["scores"] for column in json.loads(done.stdout)["columns"]]


def truth_of(boxes, **more):
    """Annotations of one picture with these boxes of one category."""
    return {"images": [{"id": 7, "file_name": "a.png", "width": 200, "height": 100}], "categories": [{"id": 3, "name": "car"}],
            "annotations": [{"id": k, "image_id": 7, "category_id": 3, "bbox": box} for k, box in enumerate(boxes, 1)], **more}


@case
def recorded(hetero, folder):
    """Random sets with crowds, ranges of area, limits and ties: pycocotools' numbers (tests/tools/accuracy/recorded.json)."""
    sets = json.loads(pathlib.Path(__file__).with_name("accuracy").joinpath("recorded.json").read_text())
    assert len(sets) >= 60, len(sets)
    for entry in sets:
        annotations, results, limits = draw_set(entry["seed"])
        assert fingerprint(annotations, results) == entry["set"] and limits == entry["limits"], f"set {entry['seed']} is drawn differently"
        numbers = evaluate_set(hetero.program, annotations, results, limits)
        off = difference(numbers, entry["numbers"])
        assert off < 1e-6, f"set {entry['seed']}: off by {off}\n{dict(zip(names(limits), numbers))}\n{entry['numbers']}"


@case
def coco(hetero, folder):
    dataset = draw_scenes(hetero, folder)
    proc = ["--model-proc", hetero.detector_proc]
    found = folder / "found.json"
    done = hetero.run("accuracy", hetero.detector, dataset, *proc, "--detections", found, "--json")
    out = json.loads(done.stdout)
    assert out["kind"] == "COCO" and out["pictures"] == 12 and out["columns"][0]["device"] == "CPU", out
    assert out["columns"][0]["labels"]["mapping"] == "by name, 5 of 5 labels, 5 of 5 categories", out
    assert 0.6 < out["columns"][0]["scores"]["AP"] < 1 and out["columns"][0]["scores"]["AP50"] > 0.85, out
    assert not list(folder.glob("*.state")), "a complete run has no state"
    # The same from the file, from the annotations alone and with the pictures elsewhere.
    truth = dataset / "annotations/instances_val.json"
    for place in ((dataset,), (truth,), (dataset, "--split", "val"), (dataset / "images", "--annotations", truth)):
        assert scores(hetero.run("accuracy", *place, "--from-detections", found, "--json")) == scores(done), place
    table = hetero.run("accuracy", dataset, "--from-detections", found, "--per-category").stdout
    expect(table, "COCO", "12 pictures", "AP50", "bicycle", f"{out['columns'][0]['scores']['AP']:.4f}")
    # Batches and several requests give the same detections in the same order.
    batched = folder / "batched.json"
    hetero.run("accuracy", hetero.detector, dataset, *proc, "--detections", batched, "-b", 5, "--properties", "NUM_STREAMS=2")
    first, second = (json.loads(path.read_text()) for path in (found, batched))
    assert [(d["image_id"], d["category_id"]) for d in first if d["score"] > 0.3] == [(d["image_id"], d["category_id"]) for d in second if d["score"] > 0.3]
    limited = json.loads(hetero.run("accuracy", dataset, "--from-detections", found, "--limit", 5, "--json").stdout)
    assert limited["pictures"] == 5 and limited["columns"][0]["scores"] != out["columns"][0]["scores"], limited
    # VOC's number at this overlap is near, by its own interpolation.
    voc = scores(hetero.run("accuracy", dataset, "--from-detections", found, "--metric", "voc", "--json"))[0]
    assert set(voc) == {"mAP", "mAP07"} and abs(voc["mAP"] - out["columns"][0]["scores"]["AP50"]) < 0.05, voc


@case
def types(hetero, folder):
    """The demo's models in f32, bf16 and int8 beside each other."""
    dataset = draw_scenes(hetero, folder)
    for name, data, number, least in (("scene_detector", dataset, "AP50", 0.85), ("scene_attributes", folder / "colors", "top-1", 0.9)):
        model = hetero.root / f"pipelines/demo/models/{name}.onnx"
        int8 = model.with_name(f"{name}_int8.onnx")
        command = ["accuracy", model, int8, data, "--model-proc", model.with_suffix(".json"), "--types", "f32,bf16,int8"]
        columns = json.loads(hetero.run(*command, "--json").stdout)["columns"]
        assert [(c["model"], c["type"]) for c in columns] == [(str(model), "f32"), (str(model), "bf16"), (str(int8), "int8")], columns
        values = [column["scores"][number] for column in columns]
        assert min(values) > least and max(values) - min(values) < 0.03, values
        expect(hetero.run(*command).stdout, f"{name}_int8.onnx", "f32", "bf16", "int8", number)
        # A quantised model alone takes any type, and a float model not int8.
        assert len(scores(hetero.run("accuracy", int8, data, "--model-proc", model.with_suffix(".json"), "--types", "f32,int8", "--limit", 2, "--json"))) == 2
        expect(hetero.run("accuracy", model, data, "--types", "int8", status=2).stderr, "quantised", name)
    expect(hetero.run("accuracy", hetero.detector, dataset, "--types", "f32,fp8", status=2).stderr, "'fp8'")
    expect(hetero.run("accuracy", hetero.detector, dataset, "--types", "f32,f32", status=2).stderr, "twice")


@case
def class_folders(hetero, folder):
    draw_scenes(hetero, folder, 2, 3)
    model = hetero.detector.replace("scene_detector", "scene_attributes")
    proc = ["--model-proc", model[:-4] + "json"]
    out = json.loads(hetero.run("accuracy", model, folder / "colors", *proc, "--json").stdout)
    assert out["kind"] == "class folders" and list(out["columns"][0]["categories"]) == ["blue", "green", "red", "white", "yellow"], out
    assert out["columns"][0]["scores"]["top-1"] > 0.9 and len(out["columns"][0]["scores"]) == 1, out
    assert out["columns"][0]["labels"]["mapping"].startswith("by name"), out
    # Some of every class, and a folder of a split.
    (folder / "split").mkdir()
    (folder / "colors").rename(folder / "split/val")
    few = json.loads(hetero.run("accuracy", model, folder / "split", *proc, "--limit", 10, "--json").stdout)
    assert few["pictures"] == 10 and sum(v is not None for v in few["columns"][0]["categories"].values()) >= 4, few
    # Labels in another order by name are right, by index wrong.
    labels = folder / "labels.txt"
    labels.write_text("c0\nc1\nc2\nc3\nc4\n")
    by_index = json.loads(hetero.run("accuracy", model, folder / "split", *proc, "--labels-file", labels, "--json").stdout)
    assert by_index["columns"][0]["labels"]["mapping"].startswith("by index") and by_index["columns"][0]["scores"]["top-1"] < 0.5, by_index
    labels.write_text("c0\nc1\nc2\nc3\nRed\n")
    done = hetero.run("accuracy", model, folder / "split", *proc, "--labels-file", labels)
    expect(done.stdout, "by name, 1 of 5 labels", "not in the dataset: c0, c1, c2, c3", "not known to the model: blue, green")
    expect(hetero.run("accuracy", model, folder / "split", *proc, "--detections", folder / "d.json", status=2).stderr, "no boxes")


VOC_XML = """<annotation><filename>wrong name</filename><size><width>200</width><height>100</height></size>
<object><name>{name}</name><difficult>{difficult}</difficult><bndbox><xmin>11</xmin><ymin>21</ymin><xmax>{xmax}</xmax><ymax>70</ymax></bndbox></object>
</annotation>"""


@case
def voc(hetero, folder):
    for part in ("Annotations", "JPEGImages", "ImageSets/Main"):
        (folder / part).mkdir(parents=True)
    for name, category, difficult in (("000001", "dog", 0), ("000002", "dog", 0), ("000003", "cat", 1), ("000004", "cat", 0), ("000009", "bus", 0)):
        (folder / f"Annotations/{name}.xml").write_text(VOC_XML.format(name=category, difficult=difficult, xmax=60))
    (folder / "ImageSets/Main/val.txt").write_text("000001  1\n000002 -1\n000003\n000004\n")

    def detection(image, category, score, width=50):
        # The box in XML is 50 pixels wide and begins at pixel 10, counted from 0.
        return {"image_id": image, "category_id": category, "bbox": [10, 20, width, 50], "score": score}

    found = folder / "found.json"  # categories by name: bus 1, cat 2, dog 3
    found.write_text(json.dumps([detection("000001", 3, 0.9, 25), detection(2, 3, 0.8, 24), detection("000003", 2, 0.9), detection(4, 2, 0.8)]))
    out = json.loads(hetero.run("accuracy", folder, "--from-detections", found, "--json").stdout)
    assert out["kind"] == "VOC" and out["pictures"] == 4, out
    assert out["columns"][0]["categories"] == {"bus": None, "cat": 1, "dog": 0.5}, out
    assert abs(out["columns"][0]["scores"]["mAP"] - 0.75) < 1e-12 and abs(out["columns"][0]["scores"]["mAP07"] - (1 + 6 / 11) / 2) < 1e-12, out
    assert scores(hetero.run("accuracy", folder, "--from-detections", found, "--metric", "coco", "--json"))[0]["AP50"] is not None
    expect(hetero.run("accuracy", hetero.detector, folder, status=1).stderr, "4 of the 4 pictures", "000001.jpg", "JPEGImages")

    for text, parts in ((VOC_XML.format(name="dog", difficult=0, xmax="x"), ("000001.xml", "bndbox/xmax", "'x'")),
                        (VOC_XML.format(name="dog", difficult=0, xmax=5), ("000001.xml", "bndbox", "(11, 21) - (5, 70)")),
                        (VOC_XML.format(name="", difficult=0, xmax=60), ("000001.xml", "object/name")),
                        (VOC_XML.format(name="dog", difficult=0, xmax=60).replace(">200<", ">0<"), ("000001.xml", "size/width")),
                        ("<annotation><object>", ("000001.xml", "no XML")), ("<a/>", ("000001.xml", "<annotation>"))):
        (folder / "Annotations/000001.xml").write_text(text)
        expect(hetero.run("accuracy", folder, "--from-detections", found, status=1).stderr, *parts)
    (folder / "Annotations/000001.xml").unlink()
    expect(hetero.run("accuracy", folder, "--from-detections", found, status=1).stderr, "the image set has '000001'")
    expect(hetero.run("accuracy", folder, "--split", "trainval", "--from-detections", found, status=1).stderr, "trainval.txt")


@case
def resume(hetero, folder):
    dataset = draw_scenes(hetero, folder)
    command = ["accuracy", hetero.detector, dataset, "--model-proc", hetero.detector_proc, "--detections", folder / "found.json", "--json"]
    whole = hetero.run(*command)
    detections = (folder / "found.json").read_bytes()
    (folder / "found.json").unlink()

    # A picture that cannot be read ends the run; what was done is kept.
    pictures = sorted((dataset / "images").iterdir())
    shutil.copy(pictures[8], folder / "kept.jpg")
    pictures[8].write_text("no picture")
    expect(hetero.run(*command, status=1).stderr, pictures[8].name)
    state = folder / "found.json.state"
    done = [json.loads(line) for line in state.read_text().splitlines()]
    assert len(done) == 9 and not (folder / "found.json").exists(), len(done)
    # The same command goes on: a picture that is done may even be gone wrong.
    shutil.copy(folder / "kept.jpg", pictures[8])
    first = pictures[0].read_bytes()
    pictures[0].write_text("no picture")
    assert hetero.run(*command).stdout == whole.stdout
    assert (folder / "found.json").read_bytes() == detections and not state.exists()
    pictures[0].write_bytes(first)

    # Others' states are refused, and stay.
    pictures[8].write_text("no picture")
    hetero.run(*command, status=1)
    for more, parts in ((["--threshold", 0.2], ("--threshold is 0.2 now and was 0.001 then",)), (["-d", "REF"], ("device is REF now and was CPU then",)),
                        (["--properties", "NUM_STREAMS=1"], ("properties of the model is NUM_STREAMS=1",))):
        expect(hetero.run(*command, *more, status=2).stderr, str(state), "another run", *parts)
    assert state.exists()
    state.write_text(state.read_text()[:-40])
    expect(hetero.run(*command, status=1).stderr, str(state), "is no state", "line 9")
    expect(hetero.run(*command[:-3], "--state", folder / "no/such/state", status=1).stderr, "no/such/state")


@case
def interrupted(hetero, folder):
    """Control-C on a slow device: the state is written, and the same command ends with the same numbers."""
    dataset = draw_scenes(hetero, folder, 4, 4)
    command = ["accuracy", hetero.detector, dataset, "--model-proc", hetero.detector_proc, "-d", "REF", "--state", folder / "s", "--json"]
    running = subprocess.Popen([hetero.program, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=300)
    if running.returncode != 0:  # else it was faster
        assert running.returncode == 1 and out == "", (running.returncode, out)
        expect(err, "stopped after", "of 16 pictures", "the same command goes on")
        assert json.loads((folder / "s").read_text().splitlines()[0])["state_of"] == "hetero accuracy"
    again = hetero.run(*command)
    assert not (folder / "s").exists()
    assert scores(again) == scores(hetero.run(*command))


@case
def bad_input(hetero, folder):
    truth, found = folder / "truth.json", folder / "found.json"
    good = [{"image_id": 7, "category_id": 3, "bbox": [0, 0, 10, 10], "score": 0.5}]
    found.write_text(json.dumps(good))

    def fails(annotations, *parts):
        truth.write_text(annotations if isinstance(annotations, str) else json.dumps(annotations))
        expect(hetero.run("accuracy", truth, "--from-detections", found, status=1).stderr, "truth.json", *parts)

    boxes = [[1, 2, 3, 4], [5, 6, 7, 8]]
    fails("{\"images\": [", "is no JSON")
    fails("[]", "there is no list 'categories'")
    fails(truth_of(boxes, categories=[]), "categories is empty")
    fails(truth_of(boxes, images=[]), "images is empty")
    fails(truth_of(boxes, images=[{"id": 7, "file_name": "a"}, {"id": 7, "file_name": "b"}]), "id 7 is there twice", "'a'", "'b'")
    fails(truth_of(boxes, categories=[{"id": 3, "name": "a"}] * 2), "categories", "id 3 is there twice")
    fails(truth_of(boxes, images=[{"id": 7, "file_name": "a", "width": 0}]), "images[0].width", "0 is no size")
    fails(truth_of(boxes, images=[{"id": "x", "file_name": "a"}]), "images[0].id", "a whole number", "\"x\"")
    fails(truth_of(boxes, images=[{"id": 7}]), "images[0].file_name", "is missing")
    fails(truth_of(boxes, annotations=[{"image_id": 7, "category_id": 4, "bbox": boxes[0]}]), "annotations[0].category_id", "4 is no id")
    fails(truth_of(boxes, annotations=[{"image_id": 8, "category_id": 3, "bbox": boxes[0]}]), "annotations[0].image_id", "8 is no id")
    fails(truth_of(boxes, annotations=[3]), "annotations[0] is no object but 3")
    for box in ([1, 2, 3], [1, 2, -3, 4], [1, 2, None, 4], [1, 2, 1e300, 4], "box", {}):
        fails(truth_of([boxes[0], box]), "annotations[1].bbox", "[x, y, width, height]")
    fails(json.dumps(truth_of(boxes)).replace("[5, 6", "[NaN, 6"), "is no JSON")

    truth.write_text(json.dumps(truth_of(boxes)))

    def found_fails(text, *parts):
        found.write_text(text if isinstance(text, str) else json.dumps(text))
        expect(hetero.run("accuracy", truth, "--from-detections", found, status=1).stderr, "found.json", *parts)

    found_fails({}, "are a list")
    found_fails([{**good[0], "category_id": 4}], "[0].category_id", "4 is no category")
    found_fails([good[0], {**good[0], "image_id": 1}], "[1].image_id", "1 is no picture")
    found_fails([{**good[0], "score": None}], "[0].score", "finite number")
    found_fails([{k: v for k, v in good[0].items() if k != "bbox"}], "[0].bbox", "is missing")
    found_fails("[{\"image_id\": 7, \"category_id\": 3, \"score\": Infinity}]", "is no JSON")
    expect(hetero.run("accuracy", truth, "--from-detections", folder / "none.json", status=1).stderr, "none.json")
    expect(hetero.run("accuracy", truth, "--from-detections", folder, status=1).stderr, "is a folder")

    # Datasets with a model.
    expect(hetero.run("accuracy", hetero.detector, folder / "none", status=1).stderr, "there is no dataset")
    expect(hetero.run("accuracy", hetero.detector, truth, status=1).stderr, "1 of the 1 pictures", "'a.png'")
    truth.write_text(json.dumps(truth_of(boxes, images=[{"id": 7, "file_name": "../../etc/passwd"}])))
    expect(hetero.run("accuracy", hetero.detector, truth, status=1).stderr, "../../etc/passwd", "leads out of the dataset")
    (folder / "empty").mkdir()
    expect(hetero.run("accuracy", hetero.detector, folder / "empty", status=1).stderr, "Looked for", "instances_*.json", "Annotations/*.xml", "CLASS/*.jpg")
    for name in ("instances_a.json", "instances_b.json"):
        (folder / "annotations").mkdir(exist_ok=True)
        shutil.copy(truth, folder / "annotations" / name)
    expect(hetero.run("accuracy", hetero.detector, folder, status=2).stderr, "instances_a.json", "instances_b.json", "--split")


@case
def sizes_that_differ(hetero, folder):
    """Pictures whose annotations are for another size, told once."""
    dataset = draw_scenes(hetero, folder, 1, 3)
    path = dataset / "annotations/instances_val.json"
    truth = json.loads(path.read_text())
    for image in truth["images"][1:]:
        image["width"], image["height"] = image["height"], image["width"]
    path.write_text(json.dumps(truth))
    done = hetero.run("accuracy", hetero.detector, dataset, "--model-proc", hetero.detector_proc)
    expect(done.stderr, "2 pictures have another size", "is 640x384, the dataset says 384x640")


@case
def usage(hetero, folder):
    hetero.run("accuracy", status=2)
    expect(hetero.run("accuracy", hetero.detector, status=2).stderr, "a model and a dataset are wanted")
    expect(hetero.run("accuracy", hetero.detector, folder, "--from-detections", "f", status=2).stderr, "the dataset alone")
    expect(hetero.run("accuracy", folder, "--from-detections", "f", "--state", "s", status=2).stderr, "--state is for models")
    expect(hetero.run("accuracy", hetero.detector, folder, "--max-dets", "10,1,100", status=2).stderr, "rising")
    expect(hetero.run("accuracy", hetero.detector, folder, "--metric", "kitti", status=2).stderr, "'kitti'")
    hetero.run("accuracy", hetero.detector, folder, "--threshold", 2, status=2)
    dataset = draw_scenes(hetero, folder, 1, 1)
    expect(hetero.run("accuracy", hetero.detector, dataset, "--label-map", "color", status=2).stderr, "--label-map", "'color'")
    expect(hetero.run("accuracy", hetero.detector, hetero.detector, dataset, "--detections", folder / "f", status=2).stderr, "there are 2")
    expect(hetero.run("accuracy", hetero.detector, dataset, "-iop", "images:u8", status=2).stderr, "-ip and -op")
    expect(hetero.run("accuracy", hetero.detector, dataset, "--properties", "NUM_STREAMS=many", status=2).stderr, "NUM_STREAMS")
    expect(hetero.run("accuracy", hetero.detector, dataset, "-d", "FPU", status=1).stderr, "FPU")
    expect(hetero.run("accuracy", folder / "none.onnx", dataset, status=1).stderr, "none.onnx")
    expect(hetero.run("accuracy", hetero.detector, dataset, "--model-proc", hetero.detector_proc, "--detections", folder / "no/such.json", status=1).stderr, "no/such.json")
    labels = folder / "labels.txt"
    labels.write_text("a\nb\n")
    expect(hetero.run("accuracy", hetero.detector, dataset, "--model-proc", hetero.detector_proc, "--labels-file", labels, status=1).stderr, "2 labels for the 5 classes")


if __name__ == "__main__":
    run_case(CASES, "accuracy_cli.py")
