"""make as a newcomer meets it: its help, and how a build of the demo is told."""
import os
import re
import shutil
import subprocess
import tempfile

from support import HERE, free_port, need

ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
SOURCES = ("config", "odata", "storage", "server", "loadtest", "tests/support")


def make(*words, cwd=ROOT):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    return subprocess.run(["make", "--no-print-directory", *words], cwd=cwd, env=kept, capture_output=True, text=True,
                          check=False)


def test_help_lists_targets_in_groups(env):
    del env
    groups = {}
    for line in make("help").stdout.splitlines():
        if re.match(r"\S.*:$", line):
            group = groups.setdefault(line, [])
        elif line:
            group.append(line.split()[0])
    need(len(groups) == 3, f"groups: {list(groups)}")
    for title, targets in groups.items():
        need(targets and targets == sorted(targets), f"{title} {targets} are not in order")
    listed = {target for targets in groups.values() for target in targets}
    need({"all", "demo", "deps", "install", "run", "check", "lint", "bench", "coverage"} <= listed, f"{listed}")


def test_building_and_the_demo_need_nothing_of_the_tests(env):
    del env
    wanted = make("-n", "deps").stdout.split()
    need("libpq-dev" in wanted and "postgresql" in wanted, f"make deps installs {wanted}")
    for package in ("check", "python3", "python3-yaml", "libxml2-utils"):
        need(package not in wanted, f"make deps installs {package}, which only tests need")
        need(package in make("-n", "deps-check").stdout.split(), f"make deps-check leaves {package} out")


class Copy:
    """The tree as it is, built, in a folder of its own, where a build can be made to happen."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="sluice-make-test.")
        os.chmod(self.path, 0o755)
        for name in SOURCES:
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.path, name))
        shutil.copy(os.path.join(ROOT, "Makefile"), self.path)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def demo(self, compiler):
        """What the demo says until its build is done: with a cluster that cannot start."""
        data = os.path.join(self.path, ".demo", "data")
        os.makedirs(data)
        with open(os.path.join(data, "PG_VERSION"), "w", encoding="ascii") as f:
            f.write("9.0\n")
        script = os.path.join(self.path, "cc")
        with open(script, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{compiler}\n")
        os.chmod(script, 0o755)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PG", "MAKE", "SLUICE_")) or k == "PGTEST_USER"}
        kept.update(CC=script, PORT=str(free_port()))
        return subprocess.run([os.path.join(self.path, "loadtest", "demo.sh")], env=kept, capture_output=True,
                              text=True, check=False)


MAKES_THE_OUTPUT = 'while [ $# -gt 1 ]; do [ "$1" != -o ] || : >"$2"; shift; done'


def test_a_build_of_the_demo_says_how_far_it_is(env):
    del env
    with Copy() as copy:
        done = copy.demo(MAKES_THE_OUTPUT)
        told = [(int(a), int(b)) for a, b in re.findall(r"^Building: (\d+) of (\d+)$", done.stdout, re.MULTILINE)]
        need(2 <= len(told) <= 20, f"no short progress: {done.stdout}")
        need(told == sorted(told) and told[-1][0] == told[-1][1] > 100, f"progress {told}")
        need("the cluster does not start" in done.stderr, f"not built: {done.stderr}")


def test_a_build_of_the_demo_that_fails_shows_why(env):
    del env
    with Copy() as copy:
        done = copy.demo("echo 'main.c:1: a fault' >&2; exit 1")
        need(done.returncode == 1 and "main.c:1: a fault" in done.stderr, f"the reason is missing: {done.stderr}")
        need(done.stderr.rstrip().endswith("make demo: the build failed"), f"no sentence: {done.stderr}")
