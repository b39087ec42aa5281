"""Streams: memory stays bounded, what breaks is seen to break, nothing is left running."""
import os
import shutil
import signal
import subprocess
import threading
import time

from support import Failure, Skipped, Wire, get, need, parse_json, wait_for

# Rows that PostgreSQL makes as they are asked for, about 230 bytes of JSON each: no data to load,
# and nothing that it would have to compute in full first.
BIG = """
CREATE TABLE p (id int PRIMARY KEY, name text);
INSERT INTO p VALUES (1, 'a'), (2, 'b');
CREATE VIEW big AS SELECT id, repeat('x', 200) AS s FROM (SELECT generate_series(1, 5000000) AS id) q;
CREATE FUNCTION nap(seconds float8) RETURNS int LANGUAGE plpgsql VOLATILE AS
    $$ BEGIN PERFORM pg_sleep(seconds); RETURN 1; END $$;
CREATE VIEW sleeper AS SELECT 1 AS id, nap(30) AS v;
CREATE VIEW brief AS SELECT 1 AS id, nap(0.5) - 1 AS v;
CREATE VIEW late AS SELECT id, CASE WHEN id = 50000 THEN nap(30) ELSE 0 END AS v, repeat('x', 200) AS s
    FROM (SELECT generate_series(1, 100000) AS id) q;
CREATE VIEW drip AS SELECT id, nap(0.002) AS v, repeat('x', 200) AS s
    FROM (SELECT generate_series(1, 100000) AS id) q;
"""
# What one streaming response may cost: buffer-bytes and 128 KiB. docs/OPERATIONS.md adds it up.
READER_KIB = 256 + 128
KEYS = {f"public.{view}": {"key": ["id"]} for view in ("big", "sleeper", "brief", "late", "drip")}


def start(env, settings=None, **more):
    database = env.database(BIG)
    return env.daemon(database, settings, entities=KEYS, **more)


def nothing_is_busy(env, daemon, seconds=1.0):
    wait_for(lambda: not env.postgres.busy(daemon.database), seconds,
             f"no backend is busy; there are {env.postgres.busy(daemon.database)}")


def still_serves(daemon):
    response = get(daemon, "/p?$orderby=id")
    need(response.status == 200, f"the next client gets {response.status}: {response.body[:200]!r}")
    need([row["name"] for row in response.json()["value"]] == ["a", "b"], f"the next client gets {response.body!r}")


def begin_stream(daemon, target="/big", receive_buffer=16384):
    wire = Wire(daemon, receive_buffer=receive_buffer)
    wire.request("GET", daemon.prefix + target)
    _, status, _ = wire.head()
    need(status == 200, f"{target} answers {status}")
    return wire


def read_slowly(wire, bytes_a_second, seconds, stop=None):
    """Reads at that pace; returns how much came."""
    total, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds and not (stop and stop.is_set()):
        allowed = (time.monotonic() - begin) * bytes_a_second - total
        if allowed < 4096:
            time.sleep(0.02)
            continue
        data = wire.socket.recv(min(int(allowed), 65536))
        if not data:
            raise Failure(f"the stream ended after {total} bytes")
        total += len(data)
    return total


def test_a_slow_reader_costs_constant_memory(env):
    """With one worker, since the first stream of each takes what it keeps for all later ones."""
    daemon = start(env, {"workers": 1})
    daemon.memory_can_be_judged()
    still_serves(daemon)
    with begin_stream(daemon) as warm:
        read_slowly(warm, 10_000_000, 0.5)
    nothing_is_busy(env, daemon)
    before = daemon.rss_kib()
    with begin_stream(daemon) as wire:
        samples = []
        for _ in range(10):
            read_slowly(wire, 100_000, 0.5)
            samples.append(daemon.rss_kib())
        growth = max(samples) - before
        need(growth <= READER_KIB, f"RSS grew by {growth} KiB with one reader at 100 KB/s: {samples}")
        need(daemon.cpu_seconds() < 5, f"{daemon.cpu_seconds()} s of CPU: the loop spins")
    nothing_is_busy(env, daemon)
    still_serves(daemon)


def test_the_size_of_a_result_does_not_show_in_memory(env):
    daemon = start(env)
    daemon.memory_can_be_judged()
    for target in ("/big", "/big?$format=csv", "/big?$format=ndjson", "/$crossjoin(big)?$expand=big"):
        with begin_stream(daemon, target, receive_buffer=None) as wire:
            need(wire.take(1_000_000), f"{target}: no body")
            early = daemon.rss_kib()
            for _ in range(100):
                wire.take(1_000_000)
            late = daemon.rss_kib()
        need(late - early < 2048, f"{target}: RSS went from {early} to {late} KiB between 1 MB and 100 MB")


def test_lines_need_a_body_whose_end_can_be_told(env):
    daemon = start(env)
    for name in ("csv", "ndjson"):
        with Wire(daemon) as wire:
            wire.request("GET", f"{daemon.prefix}/big?$format={name}", version="HTTP/1.0")
            response = wire.response()
        need(response.status == 400 and b"HTTP/1.1" in response.body, f"{name}: {response.status} {response.body[:200]!r}")
        with Wire(daemon) as wire:
            wire.request("GET", f"{daemon.prefix}/p?$format={name}&$orderby=id", version="HTTP/1.0")
            response = wire.response()
        need(response.status == 200, f"{name}: a short result answers {response.status}")


def test_wide_rows_behind_narrow_ones(env):
    """How many rows are asked for follows from those before them, which may say nothing of the next."""
    rows = ("SELECT g AS id, CASE WHEN g > 40000 THEN repeat('x', 1000000) ELSE 'x' END AS s"
            " FROM generate_series(1, 40400) AS g")
    database = env.database(f"""
        CREATE TABLE wide_table AS {rows}; ALTER TABLE wide_table ADD PRIMARY KEY (id);
        CREATE VIEW wide_view AS {rows};
        CREATE TABLE packed AS SELECT g AS id, CASE WHEN g > 40000 THEN repeat('x', 100000) ELSE 'x' END AS s
            FROM generate_series(1, 40400) AS g; ALTER TABLE packed ADD PRIMARY KEY (id);""")
    daemon = env.daemon(database, {"workers": 1}, entities={"public.wide_view": {"key": ["id"]}})
    daemon.memory_can_be_judged()
    # One row as it comes in, as it is held, and as it goes out, each in a buffer that doubles. What is
    # stored in the row itself, compressed, looks narrow: one batch of it.
    for target, most_mib in (("/wide_table", 12), ("/wide_table?$orderby=id", 12), ("/wide_view", 12), ("/packed", 36)):
        before, peak, total = daemon.rss_kib(), 0, 0
        with begin_stream(daemon, target, None) as wire:
            while not wire.pending.endswith(b"\r\n0\r\n\r\n"):
                wire.pending = wire.pending[-8:]
                total -= len(wire.pending)
                need(wire.more(), f"{target}: broken off after {total} bytes")
                total += len(wire.pending)
                peak = max(peak, daemon.rss_kib())
        need(total > 40_000_000, f"{target}: {total} bytes")
        need(peak - before <= most_mib * 1024, f"{target}: RSS grew by {peak - before} KiB for wide rows")


def test_a_hundred_slow_readers(env):
    daemon = start(env, {"db-pool-size": 180, "db-pool-wait": "30s"})
    daemon.memory_can_be_judged()
    still_serves(daemon)
    before = daemon.rss_kib()
    stop, broken, total = threading.Event(), [], []

    def reader():
        try:
            with begin_stream(daemon) as wire:
                total.append(read_slowly(wire, 100_000, 60, stop))
        except (Failure, OSError) as e:
            broken.append(str(e))
    threads = [threading.Thread(target=reader) for _ in range(100)]
    for t in threads:
        t.start()
    try:
        time.sleep(4)  # the time over which memory is looked at, not a wait for something
        begin = time.monotonic()
        still_serves(daemon)
        need(time.monotonic() - begin < 2, f"a short read took {time.monotonic() - begin:.1f} s among slow readers")
        growth = daemon.rss_kib() - before
    finally:
        stop.set()
        for t in threads:
            t.join()
    need(not broken, f"{len(broken)} readers failed: {broken[:3]}")
    each = growth / 100
    need(each <= READER_KIB, f"each of 100 slow readers costs {each:.0f} KiB of RSS")
    nothing_is_busy(env, daemon, 2)


def test_a_stalled_reader_is_dropped(env):
    daemon = start(env, {"stream-stall-timeout": "1s", "db-pool-size": 1, "workers": 1})
    with begin_stream(daemon) as wire:
        wait_for(lambda: not env.postgres.busy(daemon.database), 8, "the backend of a stalled reader is free")
        need(wire.is_closed(5), "the connection of a stalled reader stays open")
    still_serves(daemon)


def test_a_client_that_leaves_leaves_nothing_running(env):
    daemon = start(env, {"db-pool-size": 1, "workers": 1})
    for leave in (Wire.close, Wire.reset):
        for target, begun in (("/sleeper", False), ("/big", True), ("/drip", True), ("/late", True)):
            wire = Wire(daemon, receive_buffer=16384)
            wire.request("GET", target)
            if begun:
                wire.head()
            else:
                wait_for(lambda: env.postgres.busy(daemon.database), 5, "the query runs")
            leave(wire)
            nothing_is_busy(env, daemon)
            still_serves(daemon)


def test_an_answer_for_a_client_that_has_just_left(env):
    """Both are there in one turn of the loop: the daemon stands still until they are."""
    daemon = start(env, {"workers": 1, "db-pool-size": 4})
    for target in ("/brief", "/brief(1)", "/brief/$count?$filter=v eq 0", "/brief?$filter=1 div v eq 1"):
        need(get(daemon, "/p(1)").status == 200, "the service is up")
        wire = Wire(daemon)
        wire.request("GET", target.replace(" ", "%20"))
        time.sleep(0.2)  # it is watched from 50 ms on
        os.kill(daemon.process.pid, signal.SIGSTOP)
        wire.reset()
        time.sleep(0.6)
        os.kill(daemon.process.pid, signal.SIGCONT)
        need(get(daemon, "/p(1)").status == 200, f"the service is up after {target}")


def test_a_client_that_leaves_the_line_is_forgotten(env):
    daemon = start(env, {"db-pool-size": 1, "workers": 1, "db-pool-wait": "10s"})
    first = begin_stream(daemon)
    waiting = [Wire(daemon) for _ in range(3)]
    for wire in waiting:
        wire.request("GET", "/sleeper")
    wait_for(lambda: len(env.postgres.busy(daemon.database)) == 1, 5, "one query runs")
    for wire in waiting:
        wire.close()
    first.close()
    nothing_is_busy(env, daemon, 1.5)
    still_serves(daemon)


def test_a_backend_that_dies_breaks_the_body(env):
    daemon = start(env)
    for kill in ("terminate", "kill"):
        with begin_stream(daemon) as wire:
            backend = wait_for(lambda: env.postgres.busy(daemon.database), 5, "a backend streams")[0]
            if kill == "kill":
                os.kill(int(backend["pid"]), signal.SIGKILL)
            else:
                env.postgres.sql("postgres", f"SELECT pg_terminate_backend({backend['pid']})")
            body, complete = wire.chunked()
        need(not complete, f"{kill}: the body ends as if it were whole, after {len(body)} bytes")
        try:
            parse_json(body)
        except Failure:
            pass
        else:
            raise Failure(f"{kill}: the broken body parses as JSON")
        need(daemon.alive(), f"{kill}: the daemon is gone")
        # A killed backend takes the whole cluster down, and each worker finds its own way back.
        wait_for(lambda: all(get(daemon, "/p").status == 200 for _ in range(12)), 10, f"{kill}: service again")
        still_serves(daemon)


def test_curl_sees_that_a_body_is_broken(env):
    if not shutil.which("curl"):
        raise Skipped("curl is not installed")
    daemon = start(env)
    for version in ("--http1.1", "--http1.0"):
        curl = subprocess.Popen(["curl", "-sS", version, "--limit-rate", "200k", "-o", "/dev/null", daemon.root + "/big"],
                                stderr=subprocess.DEVNULL)
        backend = wait_for(lambda: env.postgres.busy(daemon.database), 5, "a backend streams")[0]
        env.postgres.sql("postgres", f"SELECT pg_terminate_backend({backend['pid']})")
        status = curl.wait(30)
        need(status in (18, 56), f"{version}: curl ends with {status}, expected 18 or 56")


def test_statement_timeout_before_the_first_byte(env):
    daemon = start(env, {"statement-timeout": "300ms"})
    begin = time.monotonic()
    response = get(daemon, "/sleeper")
    need(response.status in (503, 504), f"status {response.status}: {response.body!r}")
    need(response.json()["error"]["code"], "no code")
    need(time.monotonic() - begin < 2, "the timeout took too long")
    nothing_is_busy(env, daemon)
    still_serves(daemon)


def test_statement_timeout_after_the_first_byte(env):
    daemon = start(env, {"statement-timeout": "300ms"})
    with begin_stream(daemon, "/late", None) as wire:
        body, complete = wire.chunked()
    need(not complete and body.startswith(b"{"), f"complete={complete} after {len(body)} bytes")
    nothing_is_busy(env, daemon)
    still_serves(daemon)


def test_request_timeout_without_statement_timeout(env):
    daemon = start(env, {"statement-timeout": "0", "request-timeout": "1s", "db-pool-wait": "1s"})
    begin = time.monotonic()
    response = get(daemon, "/sleeper")
    need(response.status in (503, 504), f"status {response.status}: {response.body!r}")
    need(0.8 < time.monotonic() - begin < 3, f"after {time.monotonic() - begin:.1f} s")
    nothing_is_busy(env, daemon)


def test_a_full_pool_answers_503(env):
    daemon = start(env, {"db-pool-size": 1, "workers": 1, "db-pool-wait": "300ms"})
    with begin_stream(daemon):
        begin = time.monotonic()
        response = get(daemon, "/p")
        need(response.status == 503, f"status {response.status}")
        need(response.header("Retry-After"), "no Retry-After")
        need(time.monotonic() - begin < 1.5, f"after {time.monotonic() - begin:.1f} s")
        need(get(daemon, "/$metadata").status == 200, "$metadata needs no connection")
        need(get(daemon, "/p?$filter=x").status == 400, "a bad request needs no connection")
    nothing_is_busy(env, daemon)
    still_serves(daemon)


def test_three_quarters_of_the_pool_stream_wherever_the_clients_land(env):
    """The kernel spreads clients over workers unevenly: they lend each other their connections."""
    daemon = start(env, {"db-pool-size": 16, "workers": 4, "db-pool-wait": "10s"})
    for _ in range(5):
        streams = []
        try:
            for _ in range(12):
                streams.append(begin_stream(daemon))
            for _ in range(12): # short reads go on, in every worker
                need(get(daemon, "/p(1)").status == 200, "no short read beside the streams")
            connections = len(env.postgres.backends(daemon.database, "query NOT LIKE 'LISTEN%'"))
            need(connections <= 16, f"{connections} connections")
        finally:
            for wire in streams:
                wire.close()
        nothing_is_busy(env, daemon)
    still_serves(daemon)


def test_full_speed_is_whole(env):
    """100,000 rows over chunked and over HTTP/1.0 are all there."""
    database = env.database("CREATE TABLE r (id int PRIMARY KEY); INSERT INTO r SELECT generate_series(1, 100000);")
    daemon = env.daemon(database)
    for version in ("HTTP/1.1", "HTTP/1.0"):
        with Wire(daemon) as wire:
            wire.request("GET", "/r", version=version)
            response = wire.response()
        need(response.complete, f"{version}: broken")
        need(sorted(int(row["id"]) for row in response.json()["value"]) == list(range(1, 100001)), f"{version}: rows")
