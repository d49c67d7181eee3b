#!/usr/bin/env python3
"""What no schema knows of the manifests. Usage: manifests.py PACKAGING FOLDER; writes the launch files in them to FOLDER.

- The kubelet's reserved memory is the sum that it compares with at its start; its static policies have what they need.
- Pods are Guaranteed with whole processors, as the static CPU manager wants, and keep to the pod security standard "restricted".
- Probes and health checks ask for the launch by the name that it has, and every volume that is mounted is there.
"""
import pathlib
import re
import sys

import yaml

UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def size(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]i)", text).groups()
    return int(number) * UNITS[unit]


def kubelet_problems(kubelet):
    if kubelet["cpuManagerPolicy"] == "static" and not kubelet.get("reservedSystemCPUs"):
        yield "the static CPU manager needs reserved processors"
    reserved = sum(size(node["limits"]["memory"]) for node in kubelet["reservedMemory"])
    wanted = size(kubelet["kubeReserved"]["memory"]) + size(kubelet["systemReserved"]["memory"]) + size(kubelet["evictionHard"]["memory.available"])
    if reserved != wanted:
        yield f"reservedMemory has {reserved} bytes, the kubelet wants {wanted}"


def guaranteed_problems(container):
    resources = container["resources"]
    if resources["requests"] != resources["limits"]:
        yield "requests are not the limits: the pod is not Guaranteed"
    if not re.fullmatch(r"\d+", str(resources["limits"]["cpu"])):
        yield f"cpu {resources['limits']['cpu']} is no whole number: the processors are shared"


def restricted_problems(pod, container):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/, Restricted."""
    own, of_pod = container.get("securityContext", {}), pod.get("securityContext", {})
    both = {**of_pod, **own}
    if both.get("runAsNonRoot") is not True or both.get("runAsUser") == 0:
        yield "runs as root"
    if own.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation is not false"
    capabilities = own.get("capabilities", {})
    if capabilities.get("drop") != ["ALL"] or set(capabilities.get("add", [])) - {"NET_BIND_SERVICE"}:
        yield "keeps capabilities"
    if both.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "has no seccomp profile"
    if own.get("readOnlyRootFilesystem") is not True:
        yield "may write to its root"
    if any(pod.get(field) for field in ("hostNetwork", "hostPID", "hostIPC")) or any("hostPath" in volume for volume in pod["volumes"]):
        yield "reaches into its host"


def launch_name(command):
    return command[command.index("--name") + 1]


def container_problems(pod, container):
    yield from guaranteed_problems(container)
    yield from restricted_problems(pod, container)
    for probe in ("startupProbe", "readinessProbe"):
        asked = container[probe]["exec"]["command"]
        if asked != ["hetero-launch", "--status", launch_name(container["command"])]:
            yield f"{probe} asks {asked}"
    missing = {mount["name"] for mount in container["volumeMounts"]} - {volume["name"] for volume in pod["volumes"]}
    if missing:
        yield f"mounts {missing}, which are no volumes"


def main():
    packaging, folder = map(pathlib.Path, sys.argv[1:])
    objects = [(file.name, item) for file in sorted((packaging / "kubernetes").glob("*.yaml")) for item in yaml.safe_load_all(file.read_text())]
    problems, pods = [], 0
    for file, item in objects:
        if item["kind"] == "KubeletConfiguration":
            problems += [f"{file}: {problem}" for problem in kubelet_problems(item)]
        elif item["kind"] in ("StatefulSet", "Deployment"):
            pods += 1
            pod = item["spec"]["template"]["spec"]
            problems += [f"{file}: {problem}" for container in pod["containers"] for problem in container_problems(pod, container)]
        elif item["kind"] == "ConfigMap":
            for name, text in item["data"].items():
                (folder / name).write_text(text)
            replicas = [other["spec"]["replicas"] for _, other in objects if other["kind"] == "StatefulSet"]
            if replicas != [len(item["data"])]:
                problems.append(f"{file} has {len(item['data'])} launch files for {replicas} pods")
    if pods != 2:
        problems.append(f"{pods} objects with pods were found, of 2")
    service = yaml.safe_load((packaging / "compose/compose.yaml").read_text())["services"]["launch"]
    if service["healthcheck"]["test"] != ["CMD", "hetero-launch", "--status", launch_name(service["entrypoint"])]:
        problems.append(f"compose.yaml: the health check asks {service['healthcheck']['test']}")
    (folder / "compose.yaml").write_text((packaging / "compose/streams.yaml").read_text())
    print("\n".join(problems) or "kubelet, pods and health checks keep to their rules")
    sys.exit(bool(problems))


main()
