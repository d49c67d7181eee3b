"""A chart of rows: a bar a model and mode; needs matplotlib."""
import rows as row_list


def write_chart(rows, file):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    labels = [f"{row['model']} {row['type']}" for row in rows]
    figure, axes = pyplot.subplots(figsize=(10, 0.32 * len(rows) + 1.5))
    for offset, mode, colour in ((-0.2, "latency", "#4878a8"), (0.2, "throughput", "#d98b3a")):
        axes.barh([k + offset for k in range(len(rows))], [(row_list.speed(row, mode) or [0])[0] for row in rows], 0.38, label=mode, color=colour)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(rows)), labels, fontsize=7)
    axes.margins(y=0.01)
    axes.invert_yaxis()
    axes.set_xlabel("speed over the better of OpenVINO and ONNX Runtime")
    figure.legend(loc="upper right", ncols=2, fontsize=8)
    figure.tight_layout()
    figure.savefig(file, dpi=110)
