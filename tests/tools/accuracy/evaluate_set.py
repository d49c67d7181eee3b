"""What `hetero accuracy --from-detections` says of a set."""
import json
import pathlib
import subprocess
import tempfile


def names(limits):
    """Of COCO's twelve numbers, in its order."""
    return ["AP", "AP50", "AP75", "APs", "APm", "APl", *(f"AR{limit}" for limit in limits), "ARs", "ARm", "ARl"]


def evaluate_set(program, annotations, results, limits):
    """The twelve numbers, None where there is nothing to measure one on."""
    with tempfile.TemporaryDirectory() as folder:
        truth, found = pathlib.Path(folder, "truth.json"), pathlib.Path(folder, "found.json")
        truth.write_text(json.dumps(annotations))
        found.write_text(json.dumps(results))
        command = [program, "accuracy", truth, "--from-detections", found, "--max-dets", ",".join(map(str, limits)), "--json"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr}")
    scores = json.loads(done.stdout)["columns"][0]["scores"]
    return [scores[name] for name in names(limits)]


def difference(numbers, wanted):
    """The largest difference; infinite where one has a number that the other lacks."""
    return max(0.0 if a is None and b is None else float("inf") if a is None or b is None else abs(a - b)
               for a, b in zip(numbers, wanted, strict=True))
