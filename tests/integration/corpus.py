"""The behaviour corpus, when a folder that has it is named with --shared.

Runs all its cases, and compares those that fail with corpus_expected_failures.txt: a new failure
fails the test, and so does a case of the list that passes.
"""
import json
import os
import subprocess
import sys

from support import HERE, Skipped, need

MAP = os.path.join(HERE, "corpus_map.json")
EXPECTED = os.path.join(HERE, "corpus_expected_failures.txt")


def expected_failures():
    """Lines of `id reason`; # starts a comment."""
    with open(EXPECTED, encoding="utf-8") as f:
        lines = [line.split("#")[0].strip() for line in f]
    found = dict(line.partition(" ")[::2] for line in lines if line)
    need(all(found.values()), f"a line without a reason in {EXPECTED}")
    return found


def test_behaviour(env):
    folder = os.path.join(env.shared, "corpus", "behaviour")
    if not env.shared or not os.path.isdir(folder):
        raise Skipped(f"no corpus in {env.shared or 'any folder'}")
    with open(os.path.join(folder, "schema.sql"), encoding="utf-8") as f:
        database = env.database(f.read())
    # The reset drops all tables, and each connection has to find out by itself that its prepared
    # statements are worth nothing: with one connection the retry always meets a fresh one.
    daemon = env.daemon(database, {"schemas": ["shop"], "workers": 1, "db-pool-size": 1})
    report = os.path.join(daemon.folder, "report.jsonl")
    done = subprocess.run(
        [sys.executable, os.path.join(folder, "run.py"), "--base", daemon.root + "/", "--map", MAP, "--report", report,
         "--reset", f"psql -X -q -v ON_ERROR_STOP=1 -d '{env.postgres.uri(database)}' -f {folder}/schema.sql"],
        capture_output=True, text=True, check=False)
    results = []
    if os.path.exists(report):
        with open(report, encoding="utf-8") as f:
            results = [json.loads(line) for line in f]
    need(results, f"the corpus did not run: {done.stdout[-500:]} {done.stderr[-500:]}")
    failed = {r["id"]: r["why"] for r in results if not r["ok"]}
    print(f"corpus: {len(results) - len(failed)} of {len(results)} cases pass")
    expected = expected_failures()
    new = {i: why for i, why in failed.items() if i not in expected}
    fixed = sorted(i for i in expected if i not in failed)
    need(not new, f"{len(new)} new failures:\n" + "\n".join(f"     {i} {why[:160]}" for i, why in list(new.items())[:40]))
    need(not fixed, f"these pass now; take them off {os.path.basename(EXPECTED)}: {' '.join(fixed)}")
