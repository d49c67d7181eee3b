"""Tables of what layers.py measured: over kinds, the layers that lose most in each, and all layers as CSV."""
import csv

import layer_graph as lg
from layer_graph import LayerGraph

PEERS = ("openvino", "onnxruntime")
TOP, PAIRS = 5, 40
SIZE = {"f32": 4, "bf16": 2}


class Node:
    """One node that a runtime ran: its layers in the file (none for a copy that the runtime put in), main layer, kind and time."""

    def __init__(self, row, graph):
        self.name, self.operator, self.kernel, self.us, fused, self.readers = row
        found = {id(layer): layer for n in [*fused, self.name] for layer in [graph.find(n)] if layer}
        if "/reorder" in self.name or (self.operator in ("Reorder", "ReorderInput", "ReorderOutput", "Preprocess", "Convert") and not any(n in graph.by_name for n in fused[:1])):
            found = {}
        self.layers = list(found.values())
        own = lg.KIND_OF_OPERATOR.get(self.operator, lg.OTHER)
        if own in lg.PRODUCT_KINDS and self.layers and not any(layer.operator in lg.PRODUCTS for layer in self.layers):
            product = graph.product_of(self.layers[0])
            self.layers += [product] if product else []
        self.main = graph.main(self.layers) if self.layers else None
        self.kind = self.main.kind if self.main else lg.CONSTANT if self.name in graph.constant_names else own


def read_nodes(rows, graph):
    """A peer's nodes that stand for no layer but are parts of a norm (a mean, a difference, the rest) get that norm."""
    nodes = [Node(row, graph) for row in rows]
    by_name = {n.name: n for n in nodes}
    writers = {}
    for node in nodes:
        for reader in node.readers:
            writers.setdefault(reader, []).append(node)

    def norm_after(node, hops):
        for name in node.readers if hops else ():
            reader = by_name.get(name)
            if reader is not None and not reader.main:
                if reader.kind == lg.NORM:
                    return reader
                found = norm_after(reader, hops - 1)
                if found:
                    return found
        return None

    def layer_before(node, hops):
        for writer in writers.get(node.name, ()) if hops else ():
            found = writer if writer.main else layer_before(writer, hops - 1)
            if found:
                return found
        return None

    def norm_layer(node):
        before = layer_before(node, 5)
        written = {o for layer in before.layers for o in layer.outputs} if before else ()
        following = [r for o in written for r in graph.readers.get(o, ())]
        for _ in range(3):  # a copy may stand between
            for reader in following:
                layer = graph.by_name.get(reader.name)
                if layer and layer.kind == lg.NORM:
                    return layer
            following = [r for f in following for o in f.output for r in graph.readers.get(o, ()) if lg.KIND_OF_OPERATOR.get(f.op_type) == lg.COPY]
        return None

    parts = [(node, node if node.kind == lg.NORM else norm_after(node, 4)) for node in nodes if not node.main and node.readers]
    for node, norm in parts:
        if norm:
            node.kind = lg.NORM
    for node, layer in [(node, norm_layer(norm)) for node, norm in parts if norm]:
        if layer:
            node.layers, node.main = [layer], layer
    return nodes


class Compared:
    """One model and type: nodes by engine, the better peer, time per kind, and the least time of our nodes."""

    def __init__(self, record, graph, machine):
        self.model, self.type, self.graph = record["model"], record["type"], graph
        self.nodes = {engine: read_nodes(rows, graph) for engine, rows in record["engines"].items()}
        self.total = {engine: sum(n.us for n in nodes) for engine, nodes in self.nodes.items()}
        self.best = min((e for e in PEERS if e in self.nodes), key=self.total.get)
        self.rows = self.layers()
        self.kinds = {engine: {} for engine in self.nodes}
        for kind, _, us, peers, _, _ in self.rows:
            for engine, time in {"ours": us, **peers}.items():
                self.kinds[engine][kind] = self.kinds[engine].get(kind, 0.0) + time
        self.least = {}
        for node in self.nodes["ours"]:
            node.macs = sum(layer.macs for layer in node.layers)
            node.bytes = graph.bytes(node.layers, SIZE[self.type]) if node.layers else 0
            node.least = 1e6 * max(node.macs / machine[self.type], node.bytes / machine["bytes"])
            self.least[node.kind] = self.least.get(node.kind, 0.0) + node.least

    def layers(self):
        """(kind, our node or None, ours us, {peer: us}, {peer: kernels}, main layer or None): a peer's nodes stand where their main layer is one of our node's."""
        owner, rows = {}, []
        for node in self.nodes["ours"]:
            for layer in node.layers:
                owner.setdefault(layer.name, node)
        theirs = {e: {} for e in PEERS if e in self.nodes}
        alone = {}
        for engine in theirs:
            for node in self.nodes[engine]:
                ours = owner.get(node.main.name) if node.main else None
                if ours is not None:
                    theirs[engine].setdefault(id(ours), []).append(node)
                elif node.main:
                    alone.setdefault(node.main.name, (node.main, {}))[1].setdefault(engine, []).append(node)
                else:
                    alone.setdefault((engine, node.name), (None, {}))[1].setdefault(engine, []).append(node)
        for node in self.nodes["ours"]:
            found = {e: theirs[e].get(id(node), []) for e in theirs}
            rows.append((node.kind, node, node.us, {e: sum(n.us for n in f) for e, f in found.items()}, {e: kernels(f) for e, f in found.items()}, node.main))
        for main, found in alone.values():
            kind = main.kind if main else next(iter(found.values()))[0].kind
            rows.append((kind, None, 0.0, {e: sum(n.us for n in f) for e, f in found.items()}, {e: kernels(f) for e, f in found.items()}, main))
        return rows


def kernels(nodes):
    return " + ".join(dict.fromkeys(n.kernel.split("[")[0] if n.kernel else n.operator for n in sorted(nodes, key=lambda n: -n.us)))[:60]


def geometric_mean(values):
    import math

    return math.exp(sum(map(math.log, values)) / len(values))


def kind_table(compared, engines):
    count = len(compared)
    lines, rows = [], []
    for kind in lg.RANK:
        ms = {e: sum(c.kinds[e].get(kind, 0.0) for c in compared if e in c.kinds) / 1e3 for e in engines}
        share = {e: 100 * sum(c.kinds[e].get(kind, 0.0) / c.total[c.best] for c in compared if e in c.kinds) / max(1, sum(e in c.kinds for c in compared)) for e in engines}
        best = 100 * sum(c.kinds[c.best].get(kind, 0.0) / c.total[c.best] for c in compared) / count
        difference = [(c.kinds["ours"].get(kind, 0.0) - c.kinds[c.best].get(kind, 0.0)) / c.total[c.best] for c in compared]
        lost = 100 * sum(max(0.0, d) for d in difference) / count
        net = 100 * sum(difference) / count
        lost_ms = sum(max(0.0, c.kinds["ours"].get(kind, 0.0) - c.kinds[c.best].get(kind, 0.0)) for c in compared) / 1e3
        ours = sum(c.kinds["ours"].get(kind, 0.0) for c in compared)
        least = sum(c.least.get(kind, 0.0) for c in compared)
        losing = sum(d > 0.002 for d in difference)
        if any(ms.values()):
            rows.append((lost, kind, ms, share, best, net, lost_ms, 100 * least / ours if ours else 0.0, losing))
    head = f"{'kind':36}" + "".join(f"{e + ' ms':>15}" for e in engines) + f"{'ours %':>9}{'best %':>9}{'lost %':>9}{'net %':>9}{'lost ms':>9}{'roof %':>8}{'losing':>8}"
    lines.append(head)
    for lost, kind, ms, share, best, net, lost_ms, roof, losing in sorted(rows, key=lambda r: -r[0]):
        lines.append(f"{kind:36}" + "".join(f"{ms[e]:15.2f}" for e in engines) + f"{share['ours']:9.1f}{best:9.1f}{lost:9.2f}{net:9.2f}{lost_ms:9.2f}{roof:8.0f}{losing:8d}")
    totals = {e: sum(c.total[e] for c in compared if e in c.total) / 1e3 for e in engines}
    lines.append(f"{'all':36}" + "".join(f"{totals[e]:15.2f}" for e in engines) + f"{sum(r[3]['ours'] for r in rows):9.1f}{sum(r[4] for r in rows):9.1f}"
                 f"{sum(r[0] for r in rows):9.2f}{sum(r[5] for r in rows):9.2f}{sum(r[6] for r in rows):9.2f}{100 * sum(sum(c.least.values()) for c in compared) / 1e3 / totals['ours']:8.0f}")
    return [r[1] for r in sorted(rows, key=lambda r: -r[0])], lines


EXPLANATION = """One core, one stream, one thread; sums of the runtimes' own counters. best: the better peer of each model.
ours %, best %: mean over models of the kind's share of the better peer's whole time (each model counts alike). lost %: ours - best in the
same unit where positive, net % with its sign. roof %: least time of our nodes over ours, max(multiply-adds / peak, bytes / copy rate).
losing: models in which the kind loses more than 0.2 % of the model. A fused node is its main operation. A peer's nodes count at the node of ours that holds their main layer, so what we fuse and a peer does not stands beside
our fused node; what a peer fuses and we do not is lost in the kind of our extra node."""


def kernel_table(compared):
    """What is lost by pairs of kernels, ours and the better peer's, within a kind."""
    pairs = {}
    for c in compared:
        for kind, node, us, peers, used, _ in c.rows:
            if node is not None:
                pair = pairs.setdefault((kind, node.kernel, c.best, used.get(c.best) or "nothing of its own"), [0, 0.0, 0.0, 0.0, 0.0, set()])
                pair[0] += 1
                pair[1] += us
                pair[2] += peers.get(c.best, 0.0)
                pair[3] += node.least
                pair[4] += (us - peers.get(c.best, 0.0)) / c.total[c.best] / len(compared)
                pair[5].add(c.model)
    lines = [f"{'lost %':>7}{'nodes':>7}{'models':>7}{'ours ms':>9}{'peer ms':>9}{'roof %':>7}  kind: our kernel | peer's"]
    for (kind, ours, best, theirs), (count, us, peer, least, lost, models) in sorted(pairs.items(), key=lambda p: -p[1][4])[:PAIRS]:
        if lost > 0:
            lines.append(f"{100 * lost:7.2f}{count:7d}{len(models):7d}{us / 1e3:9.2f}{peer / 1e3:9.2f}{100 * least / us if us else 0:7.0f}  {kind}: {ours} | {best} {theirs}")
    return lines


def report_type(records, kind_of_type, graphs, machine, out):
    compared, lines = [], []
    for record in records:
        if record["type"] == kind_of_type:
            if "ours" in record["engines"] and any(e in record["engines"] for e in PEERS):
                compared.append(Compared(record, graphs(record["model"]), machine))
            for engine, error in record["errors"].items():
                lines.append(f"{record['model']}: {engine} failed: {error[-200:]}")
    if not compared:
        return None
    engines = ["ours", "openvino"] + (["onnxruntime"] if any("onnxruntime" in c.nodes for c in compared) else [])
    ratios = {c.model: c.total[c.best] / c.total["ours"] for c in compared}
    lines += [f"{kind_of_type}: {len(compared)} models, better peer / ours at one thread: geometric mean {geometric_mean(ratios.values()):.3f}",
              f"peak {machine[kind_of_type] / 1e9:.1f} G multiply-adds/s (cpu_peak), copies {machine['bytes'] / 1e9:.1f} GB/s (1 MiB, in the caches)", EXPLANATION, ""]
    order, table = kind_table(compared, engines)
    lines += [*table, "", "pairs of kernels with which most is lost (lost %: as above, with its sign)", *kernel_table(compared), "", f"{TOP} layers of each kind where most of a model is lost (us: ours / OpenVINO / ONNX Runtime; % of the better peer's whole time)"]
    rows = [(c, *row) for c in compared for row in c.rows]
    loss = lambda r: (r[3] - r[4].get(r[0].best, 0.0)) / r[0].total[r[0].best]  # noqa: E731
    for kind in order:
        lines.append(f"-- {kind}")
        for r in sorted((r for r in rows if r[1] == kind and r[2] is not None), key=loss, reverse=True)[:TOP]:
            c, _, node, us, peers, used, main = r
            if loss(r) <= 0:
                break
            lines.append(f"{100 * loss(r):6.2f} %  {c.model} {node.name} [{'+'.join(l.operator for l in node.layers) or node.operator}] {main.shapes if main else ''}: "
                         f"{us:.0f} / {peers.get('openvino', 0):.0f} / {peers.get('onnxruntime', 0):.0f} us, roof {node.least:.0f}; ours {node.kernel}; "
                         + "; ".join(f"{e} {k}" for e, k in used.items()))
    lines += ["", "models: better peer / ours, ours ms, peers ms"]
    for c in sorted(compared, key=lambda c: ratios[c.model]):
        worst = sorted(((c.kinds["ours"].get(k, 0.0) - c.kinds[c.best].get(k, 0.0), k) for k in lg.RANK), reverse=True)[:3]
        lines.append(f"{ratios[c.model]:6.3f} {c.model:42} " + " / ".join(f"{c.total[e] / 1e3:.2f}" for e in engines if e in c.total)
                     + "  loses in " + ", ".join(f"{k} {100 * v / c.total[c.best]:.1f} %" for v, k in worst if v > 0))
    with (out / f"layers_{kind_of_type}.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "kind", "node", "operators", "shapes", "multiply_adds", "bytes", "least_us", "ours_us", "openvino_us", "onnxruntime_us", "our_kernel", "openvino_kernel", "onnxruntime_kernel"])
        for c, kind, node, us, peers, used, main in rows:
            writer.writerow([c.model, kind, node.name if node else main.name if main else "", "+".join(l.operator for l in node.layers) if node else main.operator if main else "",
                             main.shapes if main else "", node.macs if node else "", node.bytes if node else "", f"{node.least:.1f}" if node else "", f"{us:.1f}",
                             *(f"{peers[e]:.1f}" if e in peers else "" for e in PEERS), node.kernel if node else "", *(used.get(e, "") for e in PEERS)])
    return "\n".join(lines) + "\n"


def quietest(records):
    """One record of each model and type, with each engine's measurement of the least sum: what disturbs only adds."""
    found = {}
    for record in records:
        kept = found.setdefault((record["model"], record["type"]), {**record, "engines": {}, "errors": {}})
        for engine, rows in record["engines"].items():
            if engine not in kept["engines"] or sum(r[3] for r in rows) < sum(r[3] for r in kept["engines"][engine]):
                kept["engines"][engine] = rows
        kept["errors"].update(record["errors"])
    for kept in found.values():
        kept["errors"] = {e: text for e, text in kept["errors"].items() if e not in kept["engines"]}
    return list(found.values())


def report(records, types, files, out):
    machine = next((r["machine"] for r in records if "machine" in r), None)
    read = {}

    def graphs(name):
        if name not in read:
            read[name] = LayerGraph(files / f"{name}.onnx")
        return read[name]

    for one in types:
        text = report_type(quietest([r for r in records if "model" in r]), one, graphs, machine, out)
        if text:
            (out / f"layers_{one}.txt").write_text(text)
            print(text)
