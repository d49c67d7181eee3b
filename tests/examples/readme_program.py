#!/usr/bin/env python3
"""The program in the README's section Python runs from the checkout and prints what the README says it prints.

Usage: readme_program.py ROOT FOLDER: it runs in FOLDER, which gets links to what the checkout has.
"""
import pathlib
import re
import subprocess
import sys

NUMBER = r"-?\d+(?:\.\d+)?"


def blocks_of(section):
    """The indented blocks, without their indentation."""
    block = []
    for line in [*section.splitlines(), "end"]:
        if line.startswith("    ") or (block and not line):
            block.append(line[4:])
        elif block:
            yield "\n".join(block).strip() + "\n"
            block = []


def is_like(told, wanted):
    """The same words; numbers may differ by the rounding of another processor: 0.02, or 1 pixel."""
    if re.sub(NUMBER, "#", told) != re.sub(NUMBER, "#", wanted):
        return False
    pairs = zip(re.findall(NUMBER, told), re.findall(NUMBER, wanted))
    return all(abs(float(one) - float(other)) <= (0.021 if "." in other else 1) for one, other in pairs)


def main():
    root, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    section = re.search(r"^## Python\n(.*?)^## ", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if section is None:
        sys.exit("README.md has no section Python")
    program, wanted = blocks_of(section[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("examples", "pipelines"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(root / name)
    (folder / "found.png").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-B", "-c", program], cwd=folder, capture_output=True, text=True, timeout=240)
    print(done.stdout, done.stderr, sep="\n")
    if "No module named 'cv2'" in done.stderr:
        print("skipped: this Python has no cv2 (OpenCV)")
        sys.exit(77)
    if done.returncode != 0 or not is_like(done.stdout, wanted):
        sys.exit(f"the program ended with {done.returncode}; the README says\n{wanted}")
    if not (folder / "found.png").is_file():
        sys.exit("there is no found.png")


if __name__ == "__main__":
    main()
