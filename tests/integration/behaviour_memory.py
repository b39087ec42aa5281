"""A share of all allocations of the daemon fails while it is under load."""
import mmap
import os
import random
import struct
import threading
import time

from support import Skipped, Wire, check_error_body, get, need, uses_sanitizer, wait_for

TABLES = """
CREATE TABLE g (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE p (id int PRIMARY KEY, g int NOT NULL REFERENCES g, name text, tags text[]);
CREATE INDEX ON p (g);
INSERT INTO g SELECT i, 'g' || i FROM generate_series(1, 50) i;
INSERT INTO p SELECT i, 1 + i % 50, 'n' || i, ARRAY['a"b', repeat('x', 600)] FROM generate_series(1, 3000) i;
"""
# How each kind of request is told from a wrong answer: what a 200 must hold.
TARGETS = [
    ("/p(7)", lambda r: r.json()["name"] == "n7"),
    ("/p(7)/name/$value", lambda r: r.text() == "n7"),
    ("/p?$orderby=id&$top=20&$skip=10&$filter=g ne 3", lambda r: len(r.json()["value"]) == 20),
    ("/p", lambda r: len(r.json()["value"]) == 3000),
    ("/p?$count=true&$top=5", lambda r: r.json()["@odata.count"] == 3000 and len(r.json()["value"]) == 5),
    ("/g?$expand=p($select=id)", lambda r: sum(len(g["p"]) for g in r.json()["value"]) == 3000),
    ("/p?$expand=g_&$top=50", lambda r: r.status == 400),
    ("/p/$count", lambda r: r.text() == "3000"),
    ("/$crossjoin(g,p)?$filter=g/id eq p/g&$expand=g&$top=30", lambda r: len(r.json()["value"]) == 30),
    ("/g(3)/p?$count=true", lambda r: len(r.json()["value"]) == 60),
    ("/$metadata", lambda r: r.text().rstrip().endswith("</edmx:Edmx>")),
    ("/", lambda r: len(r.json()["value"]) == 2),
]
ERRORS = {"/nothing": 404, "/p(1": 400, "/p?$filter=nme eq 'x'": 400, "/p?$top=x": 400, "/p(99999)": 404}
HEADERS = [("Prefer", "maxpagesize=5000"), ("Accept", "application/json, */*")]


class Failing:
    """The file that a preloaded fail_malloc.so looks into."""

    def __init__(self, env, seed):
        if uses_sanitizer(env.binary):
            raise Skipped("a sanitizer has its own malloc")
        self.library = os.path.join(os.path.dirname(env.binary), "fail_malloc.so")
        if not os.path.exists(self.library):
            raise Skipped(f"{self.library} is not there")
        self.path = os.path.join("/tmp", f"sluice-fail-malloc.{os.getpid()}")
        with open(self.path, "wb") as f:
            f.write(struct.pack("=III", 0, seed, 0))
        self.file = open(self.path, "r+b")
        self.map = mmap.mmap(self.file.fileno(), 12)

    def environment(self):
        return {"LD_PRELOAD": self.library, "FAIL_MALLOC": self.path}

    def share(self, per_million):
        self.map[0:4] = struct.pack("=I", per_million)

    def failed(self):
        return struct.unpack("=I", self.map[8:12])[0]

    def close(self):
        self.map.close()
        self.file.close()
        os.unlink(self.path)


def judge(target, expected, response, wrong):
    """An answer is right, a 503 that asks to come again, or visibly broken off."""
    if response.status == 503:
        if not response.header("Retry-After") or not response.header("OData-Version"):
            wrong.append(f"{target}: 503 without its headers: {response.headers}")
        elif response.body:
            check_error_body(response)
    elif not response.complete:
        pass
    elif isinstance(expected, int):
        if response.status != expected:
            wrong.append(f"{target}: {response.status} {response.body[:200]!r}")
        elif response.body:
            check_error_body(response)
    elif not (response.status in (200, 400) and expected(response)):
        wrong.append(f"{target}: {response.status} {response.body[:300]!r}")


def client(daemon, seed, end, wrong, seen):
    dice = random.Random(seed)
    targets = TARGETS + list(ERRORS.items())
    while time.monotonic() < end:
        target, expected = dice.choice(targets)
        began = time.monotonic()
        try:
            with Wire(daemon, 12) as wire:
                headers = HEADERS + [("Connection", "close")]
                wire.request("GET", target.replace(" ", "%20"), headers)
                response = wire.response()
                seen.append(response.status)
                judge(target, expected, response, wrong)
        except TimeoutError:
            wrong.append(f"{target}: no answer within {time.monotonic() - began:.1f} s")
        except ConnectionError:
            seen.append(0)  # closed: memory was short for the connection itself
        except Exception as e:  # whatever a client cannot read is a wrong answer
            wrong.append(f"{target}: {type(e).__name__} {e}")


def under_failures(env, per_million, seconds, seed):
    failing = Failing(env, seed)
    try:
        daemon = env.daemon(env.database(TABLES), {"request-timeout": "10s", "statement-timeout": "8s", "workers": 2, "db-pool-size": 6},
                            env=failing.environment())
        need(failing.failed() == 0, "allocations fail already")
        failing.share(per_million)
        wrong, seen = [], []
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=client, args=(daemon, seed + i, end, wrong, seen)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        failing.share(0)
        need(daemon.alive(), f"the daemon died: {daemon.process.returncode} {daemon.log()[-600:]}")
        need(not wrong, f"{len(wrong)} of {len(seen)} answers are wrong: {wrong[:6]}")
        need(failing.failed() > 20, f"only {failing.failed()} allocations failed")
        need(200 in seen, f"nothing was served: {seen[:50]}")
        # And all is well afterwards.
        for target, expected in TARGETS:
            def served(target=target, expected=expected):
                response = get(daemon, target.replace(" ", "%20"), HEADERS)
                return response.status in (200, 400) and expected(response)
            wait_for(served, 10, f"{target} is served again")
        wait_for(lambda: not env.postgres.busy(daemon.database), 5, "no backend is left busy")
        return seen
    finally:
        failing.close()


def test_one_allocation_in_a_hundred_fails(env):
    under_failures(env, 10000, 8, 1)


def test_one_allocation_in_a_thousand_fails(env):
    under_failures(env, 1000, 8, 2)


def test_one_allocation_in_ten_fails(env):
    under_failures(env, 100000, 5, 3)
