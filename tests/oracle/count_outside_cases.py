#!/usr/bin/env python3
"""Prints which operators the data of others exercises, for tests/oracle/outside_cases.txt.

usage: count_outside_cases.py HETERO SHARED_DATA

Needs the onnx package (scripts/long/onnx.sh makes an environment with it). Per operator of ONNX: the opset that introduced it and
the number of node test cases that have it; per operator of the golden models as HETERO reads them: the number of such models.
"""

import collections
import json
import subprocess
import sys
import warnings
from pathlib import Path

import onnx
from onnx.backend.test.case import node


def key(domain, op_type):
    return f"{domain or 'ai.onnx'}.{op_type}"


def main():
    hetero, shared = sys.argv[1], Path(sys.argv[2])
    first = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        name = key(schema.domain, schema.name)
        first[name] = min(first.get(name, schema.since_version), schema.since_version)
    cases = collections.Counter()
    warnings.simplefilter("ignore")
    for case in node.collect_testcases(None):
        for name in {key(n.domain, n.op_type) for n in case.model.graph.node}:
            cases[name] += 1
    models = collections.Counter()
    for golden in sorted(shared.glob("expected/golden/*/*/golden.json")):
        model = shared / json.loads(golden.read_text())["model"]
        # A model without nodes has no rows, and its query fails.
        rows = subprocess.run([hetero, "query", str(model), "-d", "REF"], capture_output=True, text=True).stdout
        types = {line.split()[1] for line in rows.splitlines() if line.startswith("REF ")}
        for name in {name if "." in name else key("", name) for name in types}:
            models[name] += 1
    print(f"# operator, opset that introduced it, node cases of onnx {onnx.__version__}, golden models")
    for name in sorted(set(cases) | set(models) | set(first)):
        known = name.startswith("ai.onnx.") and name.count(".") == 2
        if cases[name] or models[name] or known:
            print(name, first.get(name, "-"), cases[name], models[name])


if __name__ == "__main__":
    main()
