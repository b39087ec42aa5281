"""Validators from npm, by name and version: installed once a run into a folder of their own."""
import atexit
import json
import os
import shutil
import subprocess
import tempfile

from support import Failure, Skipped

PACKAGES = ["ajv@8.17.1", "@seriousme/openapi-schema-validator@2.4.1"]
INSTALL_SECONDS = 180
CHECK_SECONDS = 60

_state = {}


def folder():
    """Where the packages are; Skipped says why they cannot be."""
    if not _state:
        _state["folder"], _state["why"] = install()
    if not _state["folder"]:
        raise Skipped(_state["why"])
    return _state["folder"]


def install():
    if not shutil.which("node") or not shutil.which("npm"):
        return None, "node and npm are not installed"
    path = tempfile.mkdtemp(prefix="sluice-npm.")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    command = ["npm", "install", "--prefix", path, "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES]
    try:
        done = subprocess.run(command, cwd=path, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        return None, f"npm has not installed {' '.join(PACKAGES)} within {INSTALL_SECONDS} s"
    if done.returncode != 0:
        return None, f"npm could not install {' '.join(PACKAGES)}: {done.stderr.strip()[-300:]}"
    return path, ""


def run(script, *arguments):
    """Runs an ES module that prints one JSON value, and returns that."""
    path = folder()
    name = os.path.join(path, "check.mjs")
    with open(name, "w", encoding="utf-8") as f:
        f.write(script)
    done = subprocess.run(["node", name, *arguments], cwd=path, capture_output=True, text=True, check=False,
                          timeout=CHECK_SECONDS)
    if done.returncode != 0:
        raise Failure(f"node: {done.stderr[-1500:]}")
    return json.loads(done.stdout)
