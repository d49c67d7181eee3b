"""A row is one model in one type: the rounds of every engine, and what follows from them. Needs nothing beside Python."""
import math
import statistics

MODES = {"latency": "latency_ms", "throughput": "fps"}
NAMES = {"hetero": "ours", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime"}
LISTS = ("former", "tuning", "test")
TYPES = ("f32", "bf16", "int8", "int8_ort", "int8_nncf")
# The least that no model may be below, and the share of the peak from which on a net is as fast as the cores are.
FLOOR, NEAR_PEAK = 0.93, 0.9
# More than a rounding: the outputs' largest difference over their range, by type.
TOLERANCES = {"f32": 1e-3, "bf16": 5e-2, "int8": 1e-1, "int8_ort": 1e-1, "int8_nncf": 1e-1}
# What other programs may take of the cores before a row counts as disturbed.
QUIET = 0.05
# Percentiles of the latency.
TAILS = ("p90", "p99")
LOADS = ("compile", "empty", "first", "rise")


def short(value):
    """Five digits, which is more than a measurement has."""
    return float(f"{value:.5g}")


def wrong_shapes(differences):
    """{engine: text} of whose outputs have another shape: ours where both peers agree on theirs."""
    texts = {engine: text for engine, text in differences.items() if isinstance(text, str)}
    if len(texts) == 2 and len(set(texts.values())) == 1:
        return {"hetero": next(iter(texts.values()))}
    return texts


def better(medians, larger_is_better):
    peers = [e for e in medians if e != "hetero"]
    return (max if larger_is_better else min)(peers, key=medians.get) if peers else None


def loads(latency):
    """Compile with stored choices, compile with nothing stored, first inference and memory: ours over the better peer's, less is better."""
    found = {}
    for name, field in (("compile", "compile_ms"), ("first", "first_ms"), ("rise", "rise_kib")):
        medians = {e: statistics.median(r[field] for r in rounds) for e, rounds in latency.items() if rounds}
        peer = better(medians, False)
        if peer and "hetero" in medians and medians[peer] > 0:
            found[name] = short(medians["hetero"] / medians[peer])
            if name == "compile":
                found["empty"] = short(statistics.median(r["measured_ms"] for r in latency["hetero"]) / medians[peer])
    return found


def make_row(list_name, model, kind, measured, others):
    """Of what measurement.measure() gives, and the share of the cores that other programs took meanwhile."""
    results, differences = measured["results"], measured["differences"]
    row = {"list": list_name, "model": model, "type": kind, "engines": measured["engines"], "others": round(others, 3)}
    if measured["multiply_adds"]:
        row["multiply_adds"] = measured["multiply_adds"]
    for mode, field in MODES.items():
        row[mode] = {engine: [short(r[field]) for r in rounds] for engine, rounds in results[mode].items() if rounds}
    row["tails"] = {name: {engine: [short(r[name + "_ms"]) for r in rounds] for engine, rounds in results["latency"].items() if rounds} for name in TAILS}
    row["loads"] = loads(results["latency"])
    row["differences"] = {engine: short(d) if math.isfinite(d) else "not finite alike" for engine, d in differences.items() if not isinstance(d, str)}
    row["distances"] = {name: short(d) if not isinstance(d, str) and math.isfinite(d) else "not alike" for name, d in measured["distances"].items()}
    for name, found in (("wrong_shapes", wrong_shapes(differences)), ("failures", measured["failures"]), ("says_nothing", measured["says_nothing"])):
        if found:
            row[name] = found
    return row


def unrest(row):
    """How far the rounds of an engine are apart at most, slowest over fastest: what no engine does by itself. 1 where nothing was measured."""
    return max((max(rounds) / min(rounds) for mode in MODES for rounds in row.get(mode, {}).values()), default=1)


def medians(row, mode):
    return {engine: statistics.median(rounds) for engine, rounds in row.get(mode, {}).items()}


def speed(row, mode):
    """Ours over the better peer's (above 1: ours is faster) in the median round, the least and the largest; the peer, by its median. None without one.

    Round by round, since a machine that is slower for a while is so for both.
    """
    middle, sign = medians(row, mode), 1 if mode == "throughput" else -1
    peer = better(middle, mode == "throughput")
    if peer is None or "hetero" not in middle:
        return None
    rounds = [(a / b) ** sign for a, b in zip(row[mode]["hetero"], row[mode][peer])]
    return statistics.median(rounds), min(rounds), max(rounds), peer


def share(row, mode, engine, peaks):
    """Multiply-adds a second over what all cores reach at best in this type; None where either is not known."""
    kind = "int8" if row["type"].startswith("int8") else row["type"]
    middle = medians(row, mode)
    if engine not in middle or kind not in (peaks or {}) or "multiply_adds" not in row or (kind != "f32" and peaks["tiles"]):
        return None
    per_second = middle[engine] if mode == "throughput" else 1e3 / middle[engine]
    return row["multiply_adds"] * per_second / (peaks[kind]["all"] * 1e9)


def shares(row, mode, peaks):
    """(ours, the better peer's)."""
    ratio = speed(row, mode)
    return share(row, mode, "hetero", peaks), ratio and share(row, mode, ratio[3], peaks)


def geometric_mean(values):
    return math.exp(statistics.mean(math.log(value) for value in values))


def is_lost(row, mode):
    """Ours failed, in whichever round."""
    return mode in row.get("failures", {}).get("hetero", {})


def round_means(ratios, rows, mode):
    """Least and largest geometric mean of a round, over all rows."""
    sign = 1 if mode == "throughput" else -1
    pairs = [(row[mode]["hetero"], row[mode][ratio[3]]) for row, ratio in zip(rows, ratios)]
    count = min(min(len(ours), len(theirs)) for ours, theirs in pairs)
    means = [geometric_mean([(ours[k] / theirs[k]) ** sign for ours, theirs in pairs]) for k in range(count)]
    return min(means), max(means)


def tail_means(rows):
    """{percentile: (models, geometric mean over them of the better peer's median over ours)}, for those that have one."""
    found = {}
    for name in TAILS:
        speeds = []
        for row in rows:
            middle = medians(row.get("tails", {}), name)
            peer = better(middle, False)
            if peer and "hetero" in middle:
                speeds.append(middle[peer] / middle["hetero"])
        if speeds:
            found[name] = (len(speeds), geometric_mean(speeds))
    return found


def summarise(rows, peaks):
    """A dict for each list, type and mode that has rows."""
    found = []
    keys = [(list_name, kind, mode) for list_name in LISTS for kind in TYPES for mode in MODES]
    for list_name, kind, mode in keys:
        chosen = [row for row in rows if (row["list"], row["type"]) == (list_name, kind)]
        both = [row for row in chosen if speed(row, mode) and not is_lost(row, mode)]
        lost = sum(is_lost(row, mode) for row in chosen)
        if not both:
            found += [{"list": list_name, "type": kind, "mode": mode, "models": lost, "lost": lost}] if lost else []
            continue
        ratios = [speed(row, mode) for row in both]
        values = [ratio[0] for ratio in ratios]
        least = min(range(len(both)), key=lambda k: values[k])
        quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        behind = [row for row, value in zip(both, values) if value < 1]
        found.append({"list": list_name, "type": kind, "mode": mode, "mean": geometric_mean(values), "round_means": round_means(ratios, both, mode), "quartiles": quartiles,
                      "ahead": sum(value >= 1 for value in values), "above_floor": sum(value >= FLOOR for value in values), "models": len(both) + lost, "lost": lost,
                      "least": values[least], "least_model": both[least]["model"],
                      "at_peak": sum((share(row, mode, "hetero", peaks) or 0) >= NEAR_PEAK for row in behind), "behind": len(behind)})
    return found


def worst(rows, count=10):
    """(speed, row, mode) of those that are furthest behind."""
    cells = [(speed(row, mode), row, mode) for row in rows for mode in MODES if speed(row, mode)]
    return sorted(cells, key=lambda cell: cell[0][0])[:count]


def where_and_why(row, text, modes):
    """"densenet121 f32 (throughput only: no such layer)"."""
    words = text.partition(": ")[2][:100]
    more = [f"{modes[0]} only"] if len(modes) < len(MODES) else []
    more += [words] if words else []
    return f"{row['model']} {row['type']}" + (f" ({': '.join(more)})" if more else "")


def difference_text(row):
    """"m f32 0.26 (OpenVINO from ONNX Runtime 0.76)", nothing where the outputs differ by no more than a rounding."""
    numbers = list(row.get("differences", {}).values())
    if all(not isinstance(d, str) and d <= TOLERANCES[row["type"]] for d in numbers):
        return ""
    names = {"peers": "OpenVINO from ONNX Runtime", "hetero": "ours from float32", "openvino": "OpenVINO from it"}
    by_others = ", ".join(f"{names[name]} {d if isinstance(d, str) else format(d, '.2g')}" for name, d in row.get("distances", {}).items())
    largest = next((d for d in numbers if isinstance(d, str)), None) or format(max(numbers), ".2g")
    return f"{row['model']} {row['type']} {largest}" + (f" ({by_others})" if by_others else "")


def output_lines(made):
    """Of rows whose outputs differ from a peer's, or cannot."""
    lines = []
    differing = [text for text in map(difference_text, made) if text]
    if differing:
        limits = ", ".join(f"{kind} {limit:g}" for kind, limit in TOLERANCES.items() if any(row["type"] == kind for row in made))
        lines.append(f"ours: outputs further than a rounding ({limits} of their range) from a peer's on {len(differing)} of {len(made)} rows: {', '.join(differing)}")
    nothing = [f"{row['model']} {row['type']}" for row in made if row.get("says_nothing")]
    if nothing:
        lines.append(f"outputs that have one value only, so that nothing is compared, on {len(nothing)} of {len(made)} rows: {', '.join(nothing)}")
    return lines


def failure_lines(rows):
    """"OpenVINO: crashed (signal 11, SIGSEGV) on 2 of 90 rows: ..." for everything that did not run, gave outputs of another shape or other outputs, or was disturbed."""
    lines = []
    made = [row for row in rows if "not_made" not in row]
    for engine, name in NAMES.items():
        asked = [row for row in made if engine in row["engines"]]
        cases = {}
        for row in asked:
            by_mode = row.get("failures", {}).get(engine, {})
            for text in sorted(set(by_mode.values())):
                modes = [mode for mode, other in by_mode.items() if other == text]
                cases.setdefault(text.partition(": ")[0], []).append((row, where_and_why(row, text, modes)))
            if engine in row.get("wrong_shapes", {}):
                cases.setdefault("outputs of another shape", []).append((row, f"{row['model']} {row['type']} ({row['wrong_shapes'][engine]})"))
        lines += [f"{name}: {kind} on {len({id(row) for row, _ in places})} of {len(asked)} rows: {', '.join(text for _, text in places)}" for kind, places in sorted(cases.items())]
    lines += output_lines(made)
    reasons = {}
    for row in rows:
        if "not_made" in row:
            reasons.setdefault(row["not_made"], []).append(f"{row['model']} {row['type']}")
    disturbed = [row["model"] + " " + row["type"] for row in made if row["others"] > QUIET]
    if disturbed:
        lines.append(f"other programs took more than {QUIET:.0%} of the cores during {len(disturbed)} of {len(made)} rows: {', '.join(disturbed)}")
    return lines + [f"not made: {', '.join(places)}: {reason}" for reason, places in reasons.items()]
