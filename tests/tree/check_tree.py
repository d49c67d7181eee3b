#!/usr/bin/env python3
"""Rules about the tree itself: who may include whom, sizes, names, formatting, READMEs.

Usage: check_tree.py RULE ROOT. One rule a run, so that each is a test of its own; `--list` prints
them. Exit status 77 means skipped, with the reason printed.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from districts import district_problem

FOLDERS = ["inference", "devices", "hetero", "hetinference", "gst", "pipelines", "python", "tools", "serving", "benchmarks", "examples", "tests", "docs", "packaging"]
BANNED = re.compile(r"(^|[_/.-])(manager|helper|helpers|util|utils|common|misc|engine|backend|blob|network|info)([_./-]|$)")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]', re.MULTILINE)

# Prefixes of third-party headers and the folders that may include them.
THIRD_PARTY = {
    "gst/": ("gst/", "tests/gst/", "tests/va/", "tests/serving/", "examples/", "benchmarks/pipeline/", "serving/", "python/gst/"),
    "gst/va/": ("gst/frames/va_library", "tests/gst/", "tests/va/"),
    "glib": ("gst/", "tests/gst/", "tests/va/", "tests/serving/", "examples/", "serving/", "python/gst/"),
    "dnnl": ("devices/cpu/", "tests/devices/"),
    "oneapi/": ("devices/cpu/",),
    "CL/": ("devices/gpu/", "tests/", "examples/", "benchmarks/opencl_peak/"),
    # Examples are applications, which have displays and contexts of their own.
    "va/": ("devices/va/", "devices/gpu/opencl/surface_import", "gst/frames/frame_map", "tests/", "examples/"),
    "opencv2/": ("tests/", "benchmarks/", "examples/"),
    "gdk-pixbuf/": ("tools/picture_file",),
    "cairo": ("gst/drawing/text_renderer", "tools/inspect/picture_canvas", "serving/density/results/density_chart"),
    "pango/": ("gst/drawing/text_renderer", "tools/inspect/picture_canvas"),
    "protozero/": ("inference/readers/", "inference/writers/", "tests/"),
    "pugixml": ("inference/readers/", "tools/accuracy/voc_annotations", "devices/gpu/plan/custom_layers", "tests/"),
    "nlohmann/": ("inference/", "hetero/", "gst/", "tools/", "serving/", "tests/", "benchmarks/", "devices/vpu/daemon/profile"),
    "openssl/": ("devices/vpu/link_security", "devices/vpu/link_socket"),
    "seccomp": ("devices/vpu/daemon/confinement",),
    "CLI/": ("tools/", "serving/", "devices/vpu/daemon/main.cpp"),
    "hwloc": ("inference/machine/", "serving/"),
    "yaml-cpp/": ("serving/launch/plan/yaml_source",),
    "boost/": ("hetero/planner/",),
    "pybind11/": ("python/",),
    "mosquitto": ("gst/brokers/mqtt", "tests/gst/"),
    "librdkafka/": ("gst/brokers/kafka", "tests/gst/"),
    "microhttpd": ("serving/metrics/http/connections", "tests/serving/"),
}
# Folder -> folders of ours that it may include, besides itself.
OURS = {
    "inference/": (),
    "devices/": ("inference/",),
    "hetero/": ("inference/",),
    # The C interface: nothing of ours includes it but tests and examples.
    "hetinference/": ("inference/", "devices/register_devices.h"),
    "gst/": ("inference/", "devices/register_devices.h"),
    "tools/": ("inference/", "devices/register_devices.h"),
    # Rooms for what comes (docs/decisions/0011-districts.md).
    "serving/": ("inference/", "devices/register_devices.h"),
    "python/": ("inference/", "devices/register_devices.h", "gst/bindings/"),
    "packaging/": (),
    "examples/": ("inference/", "devices/register_devices.h", "hetinference/"),
    # Kernels and the planner are measured by themselves too.
    "benchmarks/": ("inference/", "devices/register_devices.h", "devices/cpu/", "devices/gpu/", "hetero/planner/", "hetero/placement/cost_model.h"),
    "tests/": ("inference/", "devices/", "hetero/", "hetinference/", "gst/", "tools/", "serving/"),
}

# Tracked files that are no text: the demo's models, trained by pipelines/demo/train/, exports without weights, and pictures of pages.
BINARIES = ("pipelines/demo/models/", "tests/exports/", "docs/demo.jpg", "docs/side_by_side.jpg", "docs/vpu_depth.png", "examples/python/street.jpg")


def tracked(root, *suffixes):
    if (root / ".git").exists() and shutil.which("git"):
        out = subprocess.run(["git", "-C", str(root), "-c", f"safe.directory={root}", "ls-files", "-co", "--exclude-standard"],
                             check=True, capture_output=True, text=True).stdout.splitlines()
    else:
        out = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not p.parts[len(root.parts)].startswith("build")]
    return sorted(f for f in out if f.endswith(suffixes) and (root / f).is_file())


def sources(root):
    return tracked(root, ".h", ".cpp", ".cl", ".c")


def include_rule(root):
    problems = []
    for name in sources(root):
        folder = next((f for f in OURS if name.startswith(f)), None)
        for kind, target in INCLUDE.findall((root / name).read_text(encoding="utf-8")):
            for prefix, allowed in THIRD_PARTY.items():
                third_party = target.startswith(prefix) and (kind == "<" or prefix == "opencv2/")
                if third_party and not name.startswith(allowed):
                    problems.append(f"{name}: <{target}> may only be included in {', '.join(allowed)}")
            if kind != '"' or folder is None:
                continue
            problem = district_problem(root, name, target)
            problems += [problem] if problem else []
            top = next((f for f in OURS if target.startswith(f)), None)
            if top is None:
                continue  # by bare file name, inside its own folder
            if folder == "devices/" and target.startswith("devices/"):
                own = name.split("/")[1] if name.count("/") > 1 else None
                other = target.split("/")[1]
                if own is not None and own != other and target != "devices/register_devices.h":
                    problems.append(f"{name}: a device never includes another device ({target})")
                continue
            if name == "devices/register_devices.cpp" and top == "hetero/":
                continue  # composite devices are registered beside the others
            if top != folder and not any(target.startswith(a) for a in OURS[folder]):
                problems.append(f"{name}: {folder} may not include {target}")
    if (root / "gst/gst.h").exists():
        problems.append("gst/gst.h would hide GStreamer's own header")
    return problems


def file_sizes(root):
    lines = {name: len((root / name).read_text(encoding="utf-8").splitlines()) for name in sources(root) + tracked(root, ".py", ".sh")}
    problems = [f"{name} has {count} lines; at most 800" for name, count in lines.items() if count > 800]
    if lines and statistics.median(lines.values()) >= 300:
        problems.append(f"the median file has {statistics.median(lines.values())} lines; it should be under 300")
    return problems


def file_names(root):
    return [f"{name}: a file name must say what is inside" for name in sources(root) + tracked(root, ".py", ".sh") if BANNED.search(name)]


def clang_format(root):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        print("skipped: clang-format 14 is not installed")
        sys.exit(77)
    version = subprocess.run([tool, "--version"], check=True, capture_output=True, text=True).stdout
    if "version 14" not in version:
        print(f"skipped: the style is checked with clang-format 14, here is {version.strip()}")
        sys.exit(77)
    result = subprocess.run([tool, "--dry-run", "-Werror", *[str(root / f) for f in tracked(root, ".h", ".cpp")]],
                            capture_output=True, text=True)
    return sorted({line.split(":")[0] + ": not formatted; run clang-format -i" for line in result.stderr.splitlines() if "error:" in line})


def readmes(root):
    problems = [f"{folder}/README.md is missing" for folder in FOLDERS if not (root / folder / "README.md").exists()]
    for readme in tracked(root, "README.md"):
        text = (root / readme).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            if not (root / readme).parent.joinpath(target).exists():
                problems.append(f"{readme}: link to {target}, which does not exist")
    return problems


def markdown_width(root):
    """Lines of Markdown wrap at 120 columns, so that a change can be read; tables, code and what holds no blank go on."""
    problems = []
    for name in tracked(root, ".md"):
        in_code = False
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("```"):
                in_code = not in_code
            if len(line) > 120 and not in_code and not line.startswith(("|", "    ")) and " " in line.strip():
                problems.append(f"{name}:{number}: {len(line)} columns; at most 120")
    return problems


def is_text(path):
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def generated_files(root):
    """What a build, a test or a tool has written is not tracked: neither what .gitignore names nor any binary but those of BINARIES."""
    if not (root / ".git").exists() or not shutil.which("git"):
        print("skipped: this is no git checkout, or git is not installed")
        sys.exit(77)
    git = ["git", "-C", str(root), "-c", f"safe.directory={root}", "ls-files"]
    ignored = subprocess.run([*git, "-ci", "--exclude-standard"], check=True, capture_output=True, text=True).stdout.splitlines()
    problems = [f"{name}: .gitignore names it, yet it is tracked" for name in ignored]
    for name in subprocess.run(git, check=True, capture_output=True, text=True).stdout.splitlines():
        if (root / name).is_file() and not name.startswith(BINARIES) and not is_text(root / name):
            problems.append(f"{name}: tracked, but no text; what is made by a build, a test or a tool stays outside")
    return problems


def speed_tables(root):
    """The tables of docs/performance.md are those that benchmarks/models/report.py writes."""
    done = subprocess.run([sys.executable, "-B", str(root / "benchmarks/models/report.py"), "--check"], capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines() if done.returncode != 0 else []


def is_empty_function(library, symbol):
    """True where a function does nothing but return. Boost.Graph's headers have constants whose constructors, once optimised, leave that."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", str(library)],
                             check=True, capture_output=True, text=True).stdout
    instructions = re.findall(r"^\s*[0-9a-f]+:\s+(\S+)", listing, re.MULTILINE)
    return bool(instructions) and set(instructions) <= {"ret", "endbr64", "bti", "nop"}


def static_constructors(root):
    """libhetinference must not run code at load time (design, section 2): no _GLOBAL__sub_I symbols but empty ones."""
    build = pathlib.Path(os.environ.get("HET_BUILD_ROOT", ""))
    libraries = sorted(build.glob("libhetinference-1.0.so*")) + sorted(build.glob("gst/libgsthetero*.so"))
    libraries = [p for p in libraries if p.is_file() and not p.is_symlink() and p.suffix != ".p"]
    if not libraries:
        return [f"no library found in {build}"]
    problems = []
    for library in libraries:
        symbols = subprocess.run(["nm", str(library)], check=True, capture_output=True, text=True).stdout
        constructors = [line.split()[-1] for line in symbols.splitlines() if "_GLOBAL__sub_I" in line]
        problems += [f"{library.name}: static constructor {symbol}" for symbol in constructors if not is_empty_function(library, symbol)]
    return problems


RULES = {f.__name__: f for f in (include_rule, file_sizes, file_names, clang_format, readmes, markdown_width, generated_files, speed_tables, static_constructors)}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(RULES))
        return 0
    if len(sys.argv) != 3 or sys.argv[1] not in RULES:
        sys.exit(f"usage: check_tree.py RULE ROOT; rules: {', '.join(RULES)}")
    problems = RULES[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
