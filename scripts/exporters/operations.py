"""Which operations an IR has, with the types of their inputs: "Add-1(f32,f32)"."""

import sys
import xml.etree.ElementTree as ElementTree

NAMES = {"FP32": "f32", "FP16": "f16", "BF16": "bf16", "FP64": "f64", "BOOL": "boolean"}


def operations(file):
    found = set()
    for net in ElementTree.parse(file).iter():
        layers = net.find("layers")
        if layers is None:
            continue
        types = {}
        for layer in layers.findall("layer"):
            for port in layer.findall("output/port"):
                types[layer.get("id"), port.get("id")] = NAMES.get(port.get("precision"), port.get("precision", "?").lower())
        inputs = {(e.get("to-layer"), e.get("to-port")): types.get((e.get("from-layer"), e.get("from-port")), "?")
                  for e in net.findall("edges/edge")}
        for layer in layers.findall("layer"):
            kind = layer.get("type")
            if kind in ("Parameter", "Const", "Result"):
                continue
            of = [inputs.get((layer.get("id"), port.get("id")), "?") for port in layer.findall("input/port")]
            # A list of equal ones, of Concat, say, counts as two.
            if len(of) > 2 and len(set(of)) == 1:
                of = of[:2]
            found.add(f"{kind}-{layer.get('version', 'opset1').removeprefix('opset')}({','.join(of)})")
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(sorted(set().union(*map(operations, sys.argv[1:])))))
