"""What two merged files of the same videos have in common."""
import json
import pathlib


def first_difference(path, wanted):
    """Nothing where the files are equal byte by byte, else where they are not."""
    with path.open("rb") as ours, wanted.open("rb") as theirs:
        number = 0
        for number, (one, other) in enumerate(zip(ours, theirs), 1):
            if one != other:
                return f"line {number} is\n{one[:500]}\nand should be\n{other[:500]}"
        if path.stat().st_size != wanted.stat().st_size:
            return f"they have {number} lines in common; the files have {path.stat().st_size} and {wanted.stat().st_size} bytes"
    return None


def frames(path):
    with path.open(encoding="utf-8") as file:
        for line in file:
            frame = json.loads(line)
            yield frame, [thing.pop("id", None) for thing in frame.get("objects", [])]


def compare_ranges(path, wanted, plan):
    """Lines of ranges beside those of whole files: they may differ in ids alone. Returns the crossings, those with the same id on both sides,
    and the objects (video, id in the whole file, ids in the ranges) that have more than one id."""
    plan = json.loads(pathlib.Path(plan).read_text(encoding="utf-8"))
    borders = {video["name"]: [plan["shards"][index]["start_ns"] for index in video["shards"][1:]] for video in plan["videos"]}
    ids = {}
    seen = {}
    for number, ((ours, our_ids), (theirs, their_ids)) in enumerate(zip(frames(path), frames(wanted), strict=True), 1):
        if ours != theirs:
            raise AssertionError(f"line {number} differs in more than ids:\n{ours}\n{theirs}")
        video, time_ns = ours["source"], ours["timestamp"]
        for one, other in zip(our_ids, their_ids):
            if other is None:
                continue
            part = sum(time_ns >= border for border in borders[video])
            ids.setdefault((video, other), []).append(one)
            seen.setdefault((video, other), {}).setdefault(part, []).append(one)
    crossings = joined = 0
    for parts in seen.values():
        for part in parts:
            if part + 1 in parts:
                crossings += 1
                joined += parts[part][-1] == parts[part + 1][0]
    several = [(video, other, sorted(set(found))) for (video, other), found in ids.items() if len(set(found)) > 1]
    return crossings, joined, several
