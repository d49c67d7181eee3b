#!/usr/bin/env python3
"""COCO's own evaluation of random sets. Needs pycocotools, so it runs in a virtual environment (./check.sh --long accuracy).

    pycocotools_reference.py compare HETERO [SETS [SEED]]   compares hetero's numbers with pycocotools'
    pycocotools_reference.py record                         writes recorded.json anew
"""
import contextlib
import io
import json
import pathlib
import sys

import numpy
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from evaluate_set import difference, evaluate_set
from random_sets import draw_set, fingerprint

RECORDED = pathlib.Path(__file__).with_name("recorded.json")
RECORDED_SETS = 60
MOST = 1e-6


def mean(values):
    known = values[values > -1]
    return float(known.mean()) if known.size else None


def reference(annotations, results, limits):
    """The twelve numbers, None for pycocotools' -1. From its curves: its summary knows 100 detections only."""
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = annotations
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.params.maxDets = limits
        evaluation.evaluate()
        evaluation.accumulate()
        precision, recall = evaluation.eval["precision"], evaluation.eval["recall"]
        numbers = [mean(precision[:, :, :, 0, 2]), mean(precision[0, :, :, 0, 2]), mean(precision[5, :, :, 0, 2]),
                   *(mean(precision[:, :, :, area, 2]) for area in (1, 2, 3)),
                   *(mean(recall[:, :, 0, limit]) for limit in range(3)),
                   *(mean(recall[:, :, area, 2]) for area in (1, 2, 3))]
        if limits == [1, 10, 100]:
            evaluation.summarize()
            summary = [None if number == -1 else float(number) for number in evaluation.stats]
            assert difference(summary, numbers) == 0, (summary, numbers)
    return numbers


def record():
    sets = []
    for seed in range(RECORDED_SETS):
        annotations, results, limits = draw_set(seed)
        sets.append({"seed": seed, "set": fingerprint(annotations, results), "limits": limits,
                     "numbers": reference(annotations, results, limits)})
    lines = ",\n".join(json.dumps(entry) for entry in sets)
    RECORDED.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(sets)} sets in {RECORDED}")


def compare(program, count, first):
    worst, failed, lacking = 0.0, 0, 0
    for seed in range(first, first + count):
        annotations, results, limits = draw_set(seed)
        wanted = reference(annotations, results, limits)
        numbers = evaluate_set(program, annotations, results, limits)
        off = difference(numbers, wanted)
        worst = max(worst, off)
        lacking += wanted.count(None)
        if off > MOST:
            failed += 1
            print(f"set {seed}, limits {limits}:\n  hetero      {numbers}\n  pycocotools {wanted}")
    print(f"largest difference {worst:.1e}; {lacking} of {12 * count} numbers have no objects to be measured on")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["record"]:
        return record()
    if arguments[:1] != ["compare"] or not 2 <= len(arguments) <= 4:
        sys.exit(__doc__)
    count = int(arguments[2]) if len(arguments) > 2 else 300
    first = int(arguments[3]) if len(arguments) > 3 else int(numpy.random.default_rng().integers(1000, 10**9))
    print(f"{count} random sets from seed {first}")
    return compare(arguments[1], count, first)


if __name__ == "__main__":
    sys.exit(main())
