#!/usr/bin/env python3
"""Checks compose.yaml and the Dockerfile against this tree, where there is no Docker to do it.

usage: image_check.py SLUICE      SLUICE is the daemon: it says which settings there are

What must agree: the names of settings, the port, the paths that are mounted or copied, the services
that are waited for, and the packages: those to build with are in the Makefile's DEPS.
"""
import os
import re
import subprocess
import sys

import yaml

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# What a service may have here (Compose Specification, "Services top-level elements"); Compose itself
# refuses a member that it does not know.
MEMBERS = {"image", "build", "environment", "volumes", "healthcheck", "ports", "depends_on", "command"}
HEALTH_MEMBERS = {"test", "interval", "timeout", "retries", "start_period"}


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def settings(sluice):
    """The variables that the daemon reads."""
    page = subprocess.run([sluice, "--print-config-doc"], check=True, capture_output=True, text=True).stdout
    names = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    return {"SLUICE_" + name.upper().replace("-", "_") for name in names}


def service_faults(name, service, services, known, exposed):
    for member in service.keys() - MEMBERS:
        yield f"{name}: '{member}' is no member of a service that we use"
    if ("image" in service) == ("build" in service):
        yield f"{name}: either an image or a build"
    health = service.get("healthcheck")
    if health is not None and (health.keys() - HEALTH_MEMBERS or health["test"][0] not in ("CMD", "CMD-SHELL")):
        yield f"{name}: a health check that Compose does not take"
    for volume in service.get("volumes", []):
        path = volume.split(":")[0]
        if path.startswith(".") and not os.path.isdir(os.path.join(ROOT, path)):
            yield f"{name}: {path} is not there"
    for other, wish in service.get("depends_on", {}).items():
        if other not in services:
            yield f"{name}: waits for '{other}', which is no service"
        elif wish["condition"] == "service_healthy" and "healthcheck" not in services[other]:
            yield f"{name}: waits until '{other}' is healthy, which has no health check"
    if "build" in service:
        for variable in service.get("environment", {}).keys() - known:
            yield f"{name}: there is no setting {variable}"
        for port in service.get("ports", []):
            if port.split(":")[-1] not in exposed:
                yield f"{name}: the image does not listen on {port}"
        uri = service.get("environment", {}).get("SLUICE_DB_URI", "")
        host = re.search(r"@([^/:]+)", uri)
        if host is None or host.group(1) not in services:
            yield f"{name}: SLUICE_DB_URI names no service"


def dockerfile_faults(text, known, exposed):
    for variable in set(re.findall(r"\bSLUICE_[A-Z_]+", text)) - known:
        yield f"there is no setting {variable}"
    for port in re.findall(r"SLUICE_LISTEN=\S+:(\d+)", text):
        if port not in exposed:
            yield f"listens on {port}, which is not exposed"
    for path in re.findall(r"^COPY (?!--)(\S+) ", text, re.MULTILINE):
        if not os.path.exists(os.path.join(ROOT, path)):
            yield f"copies {path}, which is not there"
    makefile = re.sub(r"\\\n", " ", read("Makefile"))
    deps = set(re.search(r"^DEPS +:= (.*)$", makefile, re.MULTILINE).group(1).split())
    build_stage = text.split("\nFROM ")[0] if text.startswith("FROM") else text.split("\nFROM ")[1]
    packages = re.search(r"--no-install-recommends ([a-z0-9. -]+)", build_stage).group(1).split()
    for package in set(packages) - deps:
        yield f"builds with {package}, which is none of the Makefile's DEPS"


def main():
    known = settings(sys.argv[1])
    dockerfile = read("Dockerfile")
    exposed = set(re.findall(r"^EXPOSE (\d+)$", dockerfile, re.MULTILINE))
    services = yaml.safe_load(read("compose.yaml"))["services"]
    faults = [f"Dockerfile: {fault}" for fault in dockerfile_faults(dockerfile, known, exposed)]
    for name, service in services.items():
        faults += [f"compose.yaml: {fault}" for fault in service_faults(name, service, services, known, exposed)]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
