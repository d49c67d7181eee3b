"""The peers' recorded figures (shared measured.md), and why theirs of today differ from them."""
import pathlib

# The machine of the recorded figures, as measured.md's first lines have it, and the flags of /proc/cpuinfo that decide the peers' kernels.
RECORDED_FLAGS = {"avx2", "avx512f", "avx512_vnni", "avx512_bf16"}
DECIDING_FLAGS = ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8")
FAR = 1.1


def read_table(file):
    """{model: {column: figure}} of the first table; {} where the file is missing."""
    if not pathlib.Path(file).exists():
        return {}
    table, columns = {}, None
    for line in pathlib.Path(file).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| model |"):
            columns = cells[1:]
        elif columns and not line.startswith("|"):
            break
        elif columns and not line.startswith("| ---"):
            figures = {}
            for column, cell in zip(columns, cells[1:]):
                try:
                    figures[column] = float(cell)
                except ValueError:
                    pass  # "-": this peer does not run the model
            table[cells[0].replace("--", "_")] = figures
    return table


def processor():
    """(name, its deciding flags)."""
    name, flags = "?", set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        name = value.strip() if key.strip() == "model name" else name
        flags |= set(value.split()) if key.strip() == "flags" else set()
    return name, flags & set(DECIDING_FLAGS)


def peers_ratio(recorded, model, mode, precision):
    """ONNX Runtime's time over OpenVINO's as recorded (above 1: OpenVINO is faster), or None."""
    figures = recorded.get(model.replace("--", "_"), {})
    if precision == "bf16":
        return None
    ov, ort = ("OV lat", "ORT lat") if mode == "latency" else ("OV thr", "ORT thr")
    if ov not in figures or ort not in figures:
        return None
    return figures[ort] / figures[ov] if mode == "latency" else figures[ov] / figures[ort]


def reason(cores):
    """Why a ratio between the peers may differ here from the recorded one."""
    name, flags = processor()
    parts = []
    if flags != RECORDED_FLAGS:
        gained, lost = sorted(flags - RECORDED_FLAGS), sorted(RECORDED_FLAGS - flags)
        parts.append(f"another processor: {name}" + (f", which has {' '.join(gained)} besides" if gained else "") + (f", without {' '.join(lost)}" if lost else ""))
    else:
        parts.append(f"a processor with the same instruction sets ({name}), so the memory, the caches or the clock differ, or the machine was not quiet")
    if cores != 2:
        parts.append(f"{cores} cores instead of 2")
    parts.append("settings as then (2 streams or sessions of one thread; one request on all cores), ONNX Runtime with bound inputs and outputs")
    return "; ".join(parts)


def far_ratios(recorded, ratios):
    """Lines for (model, mode, precision, ratio) whose ratio is more than 10 % off the recorded one."""
    lines, compared = [], 0
    for model, mode, precision, ratio in ratios:
        was = peers_ratio(recorded, model, mode, precision)
        if was is None:
            continue
        compared += 1
        if not 1 / FAR <= ratio / was <= FAR:
            lines.append(f"  {model:46} {mode:10} OpenVINO's speed over ONNX Runtime's {ratio:.2f}, recorded {was:.2f}")
    return lines, compared
