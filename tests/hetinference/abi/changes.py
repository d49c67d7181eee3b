#!/usr/bin/env python3
"""That c_abi.py tells changes of c.h that break programs from additions. Usage: changes.py CPU_FAMILY."""
import pathlib
import re
import sys
import tempfile

import c_abi

# name: (pattern, replacement, whether programs that were built earlier go on)
CHANGES = {
    "nothing": (r"", "", True),
    "a function more": (r"^HET_C_API void het_text_free", r"HET_C_API void het_added(int x);\n\g<0>", True),
    "a member at the end": (r"^\} HetPicture;", r"  int64_t added;\n\g<0>", True),
    "members at the ends of two structs": (r"^\} (HetPicture|HetRegion);", r"  int64_t added, more;\n\g<0>", True),
    "a function less": (r"^HET_C_API HetStatus het_context_device.*$", "", False),
    "a parameter's type": (r"het_text_free\(char\* text\)", "het_text_free(int text)", False),
    "a result's type": (r"^HET_C_API uint32_t het_c_version", "HET_C_API uint64_t het_c_version", False),
    "a member's type": (r"^  uint32_t surface;", "  int32_t surface;", False),
    "a member's type, and one at the end": (r"^  uint32_t surface;((?s:.*?))\} HetPicture;", r"  int32_t surface;\1  int64_t added;\n} HetPicture;", False),
    "a member in the middle": (r"^  uint32_t surface;", r"  uint32_t added;\n\g<0>", False),
    "a member less": (r"^  uint64_t drm_modifier;", "", False),
    "an enumerator's value": (r"HET_INTERNAL = 11", "HET_INTERNAL = 13", False),
}


def main():
    c_abi.skip_where_it_cannot_run(sys.argv[1])
    header = c_abi.HEADER.read_text()
    mistakes = []
    for name, (pattern, replacement, is_harmless) in CHANGES.items():
        changed, count = re.subn(pattern, replacement, header, flags=re.MULTILINE)
        assert count > 0, f"{name}: c.h has nothing like '{pattern}'"
        with tempfile.TemporaryDirectory() as folder:
            report = c_abi.difference(pathlib.Path(folder), changed)
        if name != "nothing" and not report:
            mistakes.append(f"{name}: not noticed")
        elif c_abi.is_compatible(report) != is_harmless:
            mistakes.append(f"{name}: taken as {'harm' if is_harmless else 'harmless'}\n{report}")
    print("\n".join(mistakes), end="\n" if mistakes else "")
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    main()
