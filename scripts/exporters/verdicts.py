"""What a row of objects.py says."""

import re

UNDECIDED = "decided by rounding"
VERDICTS = ("right", "warned although right", "refused", "warned and wrong", "wrong")


def verdict(row):
    if "not made" in row:
        return "not made"
    if "refused" in row:
        return "refused"
    itself = row.get("itself", [""] * len(row["differences"]))
    if any(row["differences"]) and all(i for d, i in zip(row["differences"], itself) if d):
        return UNDECIDED
    if any(row["differences"]):
        return "warned and wrong" if row["warnings"] else "wrong"
    return "warned although right" if row["warnings"] else "right"


def short(message):
    """Without advice."""
    return re.sub(r"; (give a model-proc file|write the one that is right).*", "", message)


def said(row):
    """Why, in a line."""
    parts = [row.get("not made") or short(row.get("refused", "")) or next((d for d in row["differences"] if d), "")]
    if verdict(row) == UNDECIDED:
        return f"{parts[0]}; its own library with itself: {next(filter(None, row['itself']))}"
    parts += [f"as theirs with {name}" for name in row.get("as", [])]
    if "described" in row:
        parts.append("right with the descriptor that inspect writes" if not row["described"] else f"with the descriptor that inspect writes: {short(row['described'])}")
    parts += row.get("warnings", [])
    return "; ".join(part for part in parts if part)
