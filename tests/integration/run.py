#!/usr/bin/env python3
"""Runs the integration tests: real PostgreSQL, real daemon, real sockets.

usage: tests/support/with_postgres.sh python3 tests/integration/run.py --sluice build/sluice
           [--only REGEX] [--shared FOLDER] [--keep-going]

Runs every case of cases/ (see cases.py for their form), every function test_* of behaviour_*.py,
the checks of metadata.py and openapi.py, and, when --shared names a folder that has it, the corpus. Prints what
fails, then `N passed, N failed`.
"""
import argparse
import glob
import importlib
import inspect
import os
import re
import sys
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import cases  # noqa: E402
from support import Daemon, Failure, HERE, Postgres, Skipped, need  # noqa: E402


class Environment:
    """What a behaviour test gets: PostgreSQL, and daemons that are ended after it."""

    def __init__(self, binary, postgres, shared):
        self.binary = binary
        self.postgres = postgres
        self.shared = shared
        self.daemons = []
        self.created = []

    def database(self, sql="", settings="", encoding="UTF8"):
        name = self.postgres.create(sql, settings, encoding)
        self.created.append(name)
        return name

    def daemon(self, database, settings=None, **more):
        daemon = Daemon(self.binary, self.postgres, database, settings, **more)
        self.daemons.append(daemon)
        return daemon.wait_ready()

    def finish(self):
        """Ends all daemons; each must end by itself, with 0, and without a report in its log."""
        try:
            for daemon in self.daemons:
                was_alive = daemon.alive()
                status = daemon.stop()
                need(not was_alive or status == 0, f"the daemon ended with {status}: {daemon.log()[-800:]}")
        finally:
            self.clear()

    def clear(self):
        for daemon in self.daemons:
            daemon.close()
        for name in self.created:
            self.postgres.drop(name)
        self.daemons, self.created = [], []


class Score:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = 0

    def run(self, name, work, log=lambda: ""):
        start = time.monotonic()
        try:
            work()
            self.passed += 1
            return
        except Skipped as e:
            self.skipped += 1
            print(f"skip {name}: {e}")
            return
        except Failure as e:
            reason = str(e)
        except Exception as e:  # a test that breaks is a test that fails
            where = traceback.extract_tb(e.__traceback__)[-1]
            reason = f"{type(e).__name__}: {e} ({os.path.basename(where.filename)}:{where.lineno})"
        self.failed.append(name)
        print(f"FAIL {name} ({time.monotonic() - start:.1f} s)\n     {reason[:1500]}")
        lines = log().splitlines()
        trouble = [line for line in lines if "level=warning" in line or "level=error" in line]
        for line in trouble[-4:] + lines[-4:]:
            print("     | " + line[:400])
        sys.stdout.flush()


def run_cases(score, environment, wanted):
    groups = {}
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*", "*.http"))):
        case = cases.Case(path)
        if wanted(case.name):
            groups.setdefault(case.key(), []).append(case)
    for group in groups.values():
        first = group[0]
        config = dict(first.config)
        entities = config.pop("entities", None)
        try:
            database = environment.database(first.sql, first.settings)
            daemon = environment.daemon(database, config, entities=entities, env=first.environment)
        except Failure as e:
            for case in group:
                score.run(case.name, lambda e=e: need(False, f"its daemon does not start: {e}"))
            environment.clear()
            continue
        for case in group:
            score.run(case.name, lambda case=case: cases.run_case(case, daemon, environment.postgres), daemon.log)
        score.run(f"the daemon of {first.name} ends cleanly", environment.finish)


def run_modules(score, environment, wanted):
    paths = sorted(glob.glob(os.path.join(HERE, "behaviour_*.py")))
    names = [os.path.basename(p)[:-3] for p in paths] + ["metadata", "openapi", "corpus"]
    for name in names:
        module = importlib.import_module(name)
        tests = [(n, f) for n, f in inspect.getmembers(module, inspect.isfunction) if n.startswith("test_")]
        for test_name, function in sorted(tests, key=lambda t: t[1].__code__.co_firstlineno):
            title = f"{name}/{test_name[5:]}"
            if not wanted(title):
                continue

            def work(function=function):
                function(environment)
                environment.finish()
            score.run(title, work, lambda: environment.daemons[-1].log() if environment.daemons else "")
            environment.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--shared", default="")
    options = parser.parse_args()
    score = Score()
    environment = Environment(os.path.abspath(options.sluice), Postgres(), options.shared)

    def wanted(name):
        return re.search(options.only, name) is not None
    run_cases(score, environment, wanted)
    run_modules(score, environment, wanted)
    if score.skipped:
        print(f"{score.skipped} skipped")
    print(f"integration: {score.passed} passed, {len(score.failed)} failed")
    sys.exit(1 if score.failed or score.passed == 0 else 0)


if __name__ == "__main__":
    main()
