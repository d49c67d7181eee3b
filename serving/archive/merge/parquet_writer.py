"""Writes merged results as Parquet: parquet_writer.py FILE objects|frames, which `hetero archive merge` runs.

Standard input, a line each: v and the name of a video as a JSON text, l and a line of results, e at the end. Without that end the
results are not whole, and FILE does not stay.
"""
import sys

if sys.path[0] == "":  # of python3 -c: modules are not looked for where the user is
    del sys.path[0]

import json  # noqa: E402
import os  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError as failure:
    sys.exit(f"Parquet is written by PyPI's pyarrow, which {sys.executable} does not have ({failure}); install it in a virtual environment "
             "and put that first in PATH: python3 -m venv venv && venv/bin/pip install pyarrow && PATH=$PWD/venv/bin:$PATH hetero archive "
             "merge ...; or write .jsonl")

ROWS_OF_A_GROUP = 100_000
NAMES = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
SCHEMAS = {
    "objects": pyarrow.schema([
        ("video", NAMES), ("timestamp", pyarrow.int64()), ("object_id", pyarrow.int64()), ("label", NAMES), ("label_id", pyarrow.int64()),
        ("confidence", pyarrow.float64()), ("x", pyarrow.int32()), ("y", pyarrow.int32()), ("w", pyarrow.int32()), ("h", pyarrow.int32()),
        ("rest", pyarrow.string()),
    ]),
    "frames": pyarrow.schema([
        ("video", NAMES), ("timestamp", pyarrow.int64()), ("width", pyarrow.int32()), ("height", pyarrow.int32()), ("objects", pyarrow.int32()),
        ("rest", pyarrow.string()),
    ]),
}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def take(value, key, kind):
    """A member that has a column; what is of another kind stays in the rest."""
    found = value.get(key)
    if isinstance(found, bool) or not isinstance(found, kind):
        return None
    return value.pop(key)


def object_row(video, timestamp, value):
    detection = value.get("detection") if isinstance(value.get("detection"), dict) else {}
    kind = take(value, "roi_type", str)
    label = take(detection, "label", str)
    if label is not None and kind is not None and kind != label:
        value["roi_type"] = kind
    row = (video, timestamp, take(value, "id", int), label if label is not None else kind, take(detection, "label_id", int),
           take(detection, "confidence", (int, float)), *(take(value, key, int) for key in "xywh"))
    return *row, compact(value)


def object_rows(video, frame):
    return [object_row(video, frame["timestamp"], value) for value in frame.get("objects", [])]


def frame_rows(video, frame):
    resolution = frame.pop("resolution", {})
    return [(video, frame.pop("timestamp"), resolution.get("width"), resolution.get("height"), len(frame.get("objects", [])), compact(frame))]


def write(path, kind):
    schema = SCHEMAS[kind]
    rows_of = {"objects": object_rows, "frames": frame_rows}[kind]
    rows, video = [], ""
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def flush():
            columns = zip(*rows) if rows else [[] for _ in schema]
            arrays = [pyarrow.array(list(column), field.type) for column, field in zip(columns, schema)]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            rows.clear()

        for line in sys.stdin.buffer:
            what, text = line[:1], line[1:]
            if what == b"e":
                flush()
                return
            value = json.loads(text)
            if what == b"v":
                video = value
                continue
            rows += rows_of(video, value)
            if len(rows) >= ROWS_OF_A_GROUP:
                flush()
    raise EOFError("the results ended in the middle")


def main():
    path, kind = sys.argv[1:]
    try:
        write(path, kind)
    except (EOFError, KeyError, OSError, ValueError, TypeError, AttributeError, pyarrow.ArrowException) as failure:
        if os.path.exists(path):
            os.unlink(path)
        sys.exit(f"cannot write '{path}': {type(failure).__name__}: {failure}")


if __name__ == "__main__":
    main()
