#!/usr/bin/env python3
"""The archive of scripts/bundle.sh in an empty chroot: bundle.py ROOT (--build FOLDER | --archive FILE).

First nothing but the archive is there: CPU has to work, and the lack of a driver has to be told. Then PoCL's files are put beside it, which are
the driver. --build makes an archive of a build folder as it is; --archive takes one that is made, with the self-test and run.sh as well.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST_BYTES = 60 << 20
VENDORS = pathlib.Path("/etc/OpenCL/vendors")
TOP = "hetero-bundle"
VARIABLES = {"HET_BUILD_ROOT": f"/{TOP}/build", "HET_SOURCE_ROOT": f"/{TOP}/source", "HETERO_GPU_ALLOW_CPU": "1", "GST_HETERO_CACHE_DIR": "",
             "OMP_NUM_THREADS": "2", "POCL_CACHE_DIR": "/tmp/pocl", "PATH": "/usr/bin:/bin"}
# In a namespace of its own, whose mounts end with it. The programs begin in the archive's top folder.
ENTER = """set -eu
folder=$1
shift
mount -t proc proc "$folder/proc"
mount --rbind /sys "$folder/sys"
mount --rbind /dev "$folder/dev"
exec unshare --root="$folder" --wd=/hetero-bundle "$@"
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def run(command, timeout=600, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False, **more)
    return done.returncode, done.stdout


def expect(good, what, output=""):
    assert good, f"{what}\n{output[-4000:]}"
    print(f"right: {what}")


class Chroot:
    """A folder with the archive, and what is put beside it."""

    def __init__(self, folder, archive):
        self.folder = folder
        for name in ("proc", "sys", "dev", "tmp"):
            (folder / name).mkdir(parents=True)
        unpack(archive, folder)

    def run(self, *command, **variables):
        return run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", ENTER, "enter", str(self.folder), *command],
                   env={**os.environ, **VARIABLES, **variables})

    def add(self, path):
        """A file or folder of this system at the same place, links as files."""
        path = pathlib.Path(path)
        place = self.folder / path.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, place, dirs_exist_ok=True)
        elif not place.exists():
            shutil.copy(path, place)


def unpack(archive, folder):
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    assert [entry.name for entry in pathlib.Path(folder).iterdir() if entry.name.startswith("hetero")] == [TOP], "the archive has one top folder"


def libraries(*files):
    """What these need, all the way down, and the loader of programs."""
    _, text = run(["ldd", *map(str, files)])
    return set(re.findall(r"=> (/\S+)", text)) | set(re.findall(r"^\s(/\S+) \(0x", text, re.MULTILINE))


def pocl_files():
    """The driver: PoCL, the linker that it runs, and what that links. Nothing where PoCL is not installed."""
    icd = VENDORS / "pocl.icd"
    if not icd.exists():
        return []
    name = icd.read_text(encoding="utf-8").strip()
    folders = [pathlib.Path(folder) for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib") if os.path.isdir(folder)]
    library = next((folder / name for folder in folders if (folder / name).exists()), None)
    if library is None:
        return []
    home = library.parent
    own = [library, *home.glob("pocl/*.so"), pathlib.Path("/usr/bin/ld")]
    vectors = pathlib.Path("/lib") / home.name / "libmvec.so.1"
    linked = [*home.glob("libc.so"), *home.glob("libm.so"), *home.glob("libc_nonshared.a"), *([vectors] if vectors.exists() else []),
              *pathlib.Path("/usr/lib/gcc").glob("*/*/libgcc*"), *pathlib.Path("/usr/lib/gcc").glob("*/*/crt*.o")]
    return [icd, *own, *libraries(*own), *linked, pathlib.Path("/usr/share/pocl")]


def check_contents(folder):
    """Every program finds all that it needs in the archive, and what is taken along has its licence."""
    top = folder / TOP
    programs = [path for path in top.glob("build/**/*") if path.is_file()]
    expect(len(programs) >= 9, f"{len(programs)} programs and modules are there")
    needed, there = set(), {path.name for path in [*top.glob("lib/*"), *top.glob("system/*/*")]}
    for path in [*programs, *top.glob("lib/*"), *top.glob("system/*/*")]:
        _, text = run(["readelf", "-d", str(path)])
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
        places = [place for line in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", text) for place in line.split(":")]
        assert all(place.startswith("$ORIGIN/") for place in places), f"{path} looks for libraries outside of the archive\n{text}"
    missing = {name for name in needed - there if not name.startswith("ld-linux")}
    expect(not missing, f"{len(needed)} libraries are needed and all of them there", str(missing))
    licences = {path.name for path in top.glob("licences/*") if path.stat().st_size > 0}
    expect({"libc6", "libdnnl2", "ocl-icd-libopencl1"} <= licences or any(name.startswith("libdnnl") for name in licences),
           f"{len(licences)} licences", str(licences))


def without_driver(chroot):
    status, text = chroot.run("build/tools/hetero", "devices")
    expect(status == 0 and re.search(r"^CPU$", text, re.MULTILINE) and "GPU (not available)\n  there is no device GPU: the OpenCL loader" in text,
           "hetero runs in an empty chroot, and tells that there is no driver", text)
    status, text = chroot.run("build/tests/oracle/test_oracle", "--gtest_filter=*/Conv")
    expect(status == 0 and "[  PASSED  ] 1 test" in text, "an oracle case on the devices without a driver", text)
    # The loader tells what it loads; all of it has to be the archive's.
    status, text = chroot.run("use/ld.so", "--list", "build/tests/devices/gpu_child")
    others = [line for line in text.splitlines() if "=>" in line and f"=> /{TOP}/" not in line and "ld-linux" not in line]
    expect(status == 0 and "libc.so.6 =>" in text and not others, "all libraries are the archive's", text)


def with_driver(chroot, whole):
    for path in pocl_files():
        chroot.add(path)
    status, text = chroot.run("build/tools/hetero", "devices")
    expect(status == 0 and "GPU_FEATURES" in text and "GPU (not available)" not in text, "the driver's device is found", text)
    tests = "GpuConv.*" if whole else "GpuConv.ProductsOverPixels"
    status, text = chroot.run("build/tests/devices/test_devices", f"--gtest_filter={tests}")
    expect(status == 0 and re.search(r"PASSED  \] [1-9]", text) and "SKIPPED" not in text, "GPU tests run on the driver", text)
    status, text = chroot.run("build/tests/oracle/test_oracle", "--gtest_filter=*/Conv", HET_ORACLE_CASES="8" if whole else "1")
    expect(status == 0 and "[  PASSED  ] 1 test" in text, "an oracle case with the driver", text)
    if whole:
        status, text = chroot.run("build/tools/hetero", "devices", "--self-test", "--json", "/tmp/self_test.json")
        report = json.loads((chroot.folder / "tmp/self_test.json").read_text(encoding="utf-8"))
        verdicts = {row["device"]: row["text"] for row in report["verdicts"]}
        expect(status == 0 and verdicts["GPU"].startswith("right"), f"the self-test: {verdicts}", text)


def run_script(archive, folder):
    """run.sh where it is unpacked, with this system's shell and drivers and nothing else of the environment."""
    unpack(archive, folder)
    script = [str(folder / TOP / "run.sh")]
    environment = {"PATH": "/usr/bin:/bin", "HETERO_GPU_ALLOW_CPU": "1", "TMPDIR": str(folder), "HOME": "/nowhere"}
    status, text = run([*script, "--quick", "--results", str(folder / "results")], timeout=3600, env=environment, cwd="/")
    report = (folder / "results/report.txt").read_text(encoding="utf-8")
    outcomes = dict(re.findall(r"^(\w+) +(passed|skipped.*|FAILED.*)$", report.split("== outcome")[1], re.MULTILINE))
    print(outcomes)
    expect(status == 0 and list(outcomes) == ["self_test", "gpu_tests", "oracle", "peak", "compile", "hetero"] and "FAILED" not in text,
           "run.sh --quick does every part", text)
    layers = re.findall(r"^-- scene_detector, (f32|f16), batch (\d+)\n(?:(?!^--).*\n)*?.*  layer\n *1 .* (\d+)x3x192x320 ", report, re.MULTILINE)
    expect(layers == [("f32", "1", "1"), ("f32", "32", "32"), ("f16", "1", "1"), ("f16", "32", "32")], "a model's layers at both batches", str(layers))
    json.loads((folder / "results/self_test.json").read_text(encoding="utf-8"))
    expect([entry.name for entry in folder.iterdir() if entry.name not in (TOP, "results")] == [], "nothing is left behind")


def wrong_use(archive, folder):
    unpack(archive, folder)
    script = str(folder / TOP / "run.sh")
    for arguments, words in ((["--fast"], "unknown option '--fast'"), (["tests"], "there is no part 'tests'; parts are: self_test"),
                             (["--results"], "--results needs a folder"), (["--", "clinfo"], "there is no program 'clinfo'")):
        status, text = run([script, *arguments])
        expect(status == 2 and words in text, f"run.sh {' '.join(arguments)}: {words}", text)
    # Started from elsewhere, and with what OpenCL is not there told as the reason of what is skipped.
    status, text = run([script, "--results", str(folder / "results"), "compile", "hetero"], env={**os.environ, "OCL_ICD_VENDORS": str(folder)}, cwd="/")
    expect(status == 0 and len(re.findall(r"^(?:compile|hetero) +skipped: there is no device GPU", text, re.MULTILINE)) == 2,
           "run.sh without a driver skips with the reason", text)


def newer_machine(folder):
    """The machine's C library runs where it is newer, ours again where it does not work."""
    top = folder / TOP
    loader = top / "system/c/ld.so"
    ours = loader.read_bytes()
    loader.write_text("#!/bin/sh\necho 'ld.so (of long ago) stable release version 2.1.'\n", encoding="utf-8")
    status, text = run([str(top / "run.sh"), "--", "hetero", "--help"], cwd="/")
    expect(status == 0 and os.readlink(top / "use/ld.so").startswith("/lib") and "Usage: hetero" in text, "a newer C library of the machine runs", text)
    program = top / "build/tools/hetero"
    program.rename(top / "build/tools/hetero.aside")
    program.write_text("#!/bin/sh\nexit 127\n", encoding="utf-8")
    program.chmod(0o755)
    run([str(top / "run.sh"), "--", "hetero", "--help"], cwd="/")
    expect(os.readlink(top / "use/ld.so") == "c/ld.so", "the archive's C library runs where the machine's does not")
    (top / "build/tools/hetero.aside").replace(program)
    loader.write_bytes(ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--archive", type=pathlib.Path)
    arguments = parser.parse_args()
    for program in ("patchelf", "readelf"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    if not pathlib.Path("/etc/debian_version").exists():
        skip("the archive is made on Debian, whose packages have the licences")
    with tempfile.TemporaryDirectory(prefix="gst-hetero-bundle.") as name:
        folder = pathlib.Path(name)
        archive = arguments.archive
        if archive is None:
            archive = folder / "bundle.tar"
            status, text = run([str(arguments.root / "scripts/bundle.sh"), "--build", str(arguments.build), str(archive)])
            expect(status == 0, "an archive is made of the build", text)
        else:
            size = archive.stat().st_size
            expect(size <= MOST_BYTES, f"{archive.name} has {size / (1 << 20):.1f} MiB, at most {MOST_BYTES >> 20}")
        for each in ("unpacked", "here"):
            (folder / each).mkdir()
        wrong_use(archive, folder / "unpacked")
        check_contents(folder / "unpacked")
        newer_machine(folder / "unpacked")
        if arguments.archive is not None:
            run_script(archive, folder / "here")
        if os.geteuid() != 0:
            skip("a chroot needs root; what needs none was right")
        if run(["unshare", "--mount", "--pid", "--fork", "true"])[0] != 0:
            skip("root may not mount here (a container without CAP_SYS_ADMIN?); what needs no chroot was right")
        chroot = Chroot(folder / "chroot", archive)
        without_driver(chroot)
        if not pocl_files():
            skip("PoCL is not installed, which is the driver of the second half; the first was right")
        with_driver(chroot, arguments.archive is not None)


if __name__ == "__main__":
    main()
