"""How rows and their summary are printed: on a terminal and in docs/performance.md. Needs nothing beside Python."""
import rows as row_list

ENGINES = ("hetero", "openvino", "onnxruntime")
FORMS = {"latency": ".2f", "throughput": ".1f"}


def triple(values, form):
    return "/".join(format(values[engine], form) if engine in values else "-" for engine in ENGINES)


def spread(ratio):
    return f"{ratio[0]:.2f} [{ratio[1]:.2f} {ratio[2]:.2f}]" if ratio else "-"


def percent(pair):
    """"71/65", ours and the better peer's share of the peak."""
    return "/".join(f"{100 * value:.0f}" if value is not None else "-" for value in pair) if pair[0] is not None or pair[1] is not None else "-"


def cells(row, peaks):
    """Of a table's row, without loads."""
    found = [row["model"], row["type"]]
    for mode, form in FORMS.items():
        found += [triple(row_list.medians(row, mode), form), spread(row_list.speed(row, mode)), percent(row_list.shares(row, mode, peaks))]
    return found


def load_cells(row):
    return [f"{row['loads'][name]:.2f}" if name in row.get("loads", {}) else "-" for name in row_list.LOADS]


def summary_cells(s):
    """Of a dict that rows.summarise() gives."""
    if "mean" not in s:
        return [f"{s['type']} {s['mode']}", "-", f"0 of {s['models']}", f"0 of {s['models']}", *["-"] * 3]
    return [f"{s['type']} {s['mode']}", f"{s['mean']:.3f} [{s['round_means'][0]:.3f} {s['round_means'][1]:.3f}]", f"{s['ahead']} of {s['models']}",
            f"{s['above_floor']} of {s['models']}", f"{s['least']:.2f} {s['least_model']}", " ".join(f"{q:.2f}" for q in s["quartiles"]), f"{s['at_peak']} of {s['behind']}"]


SUMMARY_HEAD = ["speed over the better peer", "geometric mean [rounds]", "at least 1.00 on", f"at least {row_list.FLOOR:.2f} on", "least", "quartiles of models",
                f"behind, yet at {100 * row_list.NEAR_PEAK:.0f} % of the peak"]
HEAD = ["model", "type", "latency ms: us/OV/ORT", "speed [rounds]", "% of peak: us/peer", "frames/s: us/OV/ORT", "speed [rounds]", "% of peak: us/peer"]


def worst_cells(cell, peaks):
    ratio, row, mode = cell
    return [row["model"], row["type"], mode, spread(ratio), row_list.NAMES[ratio[3]], percent(row_list.shares(row, mode, peaks))]


WORST_HEAD = ["furthest behind", "type", "mode", "speed [rounds]", "better peer", "% of peak: us/peer"]


def markdown(head, lines):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)]


def columns(head, lines):
    """The same for a terminal."""
    widths = [max(len(line[k]) for line in (head, *lines)) for k in range(len(head))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in (head, *lines)]
