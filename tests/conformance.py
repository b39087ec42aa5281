#!/usr/bin/env python3
"""Checks that docs/CONFORMANCE.md names a test for each clause that is a yes, and that each is there.

Names are those that the page explains: `cases/x` is a folder or a case below integration/cases,
`x_test.c` and `x.py` are files below tests/, `corpus` is run by integration/corpus.py.
"""
import os
import re
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(TESTS, "..", "docs", "CONFORMANCE.md")
NAME = re.compile(r"\bcases/[a-z0-9_-]+(?: [a-z0-9_-]+)*|\b[a-z0-9_/]+(?:_test\.c|\.py)\b|\bcorpus\b")


def is_there(name):
    if name == "corpus":
        name = "integration/corpus.py"
    if not name.startswith("cases/"):
        return os.path.isfile(os.path.join(TESTS, name))
    path = os.path.join(TESTS, "integration", name)
    return os.path.isdir(path) or os.path.isfile(path + ".http")


def faults(state, tests):
    """What is wrong with a row of the page."""
    names = NAME.findall(tests)
    if state == "yes" and not names:
        yield "is a yes, and names no test"
    for name in names:
        if not is_there(name):
            yield f"names '{name}', which is not there"


def main():
    rows = bad = 0
    with open(PAGE, encoding="utf-8") as page:
        for number, line in enumerate(page, 1):
            if not line.startswith("|") or line.startswith("|---"):
                continue
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if cells[-2:] == ["state", "test"]:
                continue
            rows += 1
            for fault in faults(*cells[-2:]):
                print(f"docs/CONFORMANCE.md:{number}: {cells[0]} {fault}")
                bad += 1
    if rows == 0:
        print("docs/CONFORMANCE.md: no clause was found")
    return 1 if bad or rows == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
