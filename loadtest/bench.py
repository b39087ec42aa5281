#!/usr/bin/env python3
"""Measures Sluice beside psql, pgbench and a static file server, and prints one table of ratios.

usage: bench.py [--sluice build/sluice] [--rounds 5] [--seconds 8] [--only REGEX] [--out FILE]

Needs a PostgreSQL to talk to through libpq's variables: run it under tests/support/with_postgres.sh,
as `make bench` does. Both sides of a row run in the same minute, in turns; a figure is the median of
its rounds. Nothing is asserted: a row that misses its goal says so.
"""
import argparse
import http.client
import json
import os
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
TICKS = os.sysconf("SC_CLK_TCK")


# -- processes -----------------------------------------------------------------------------------

def cpu_seconds(pid):
    """User and system time of a process, all threads."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_kib(pid, name):
    """VmRSS or VmHWM of a process."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        for line in f:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    raise RuntimeError(f"{name} of {pid} is not known")


def psql(sql):
    run = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql],
                         check=True, capture_output=True, text=True)
    return run.stdout.strip()


def backend_pids():
    out = psql("SELECT pid FROM pg_stat_activity WHERE application_name = 'sluice'")
    return [int(pid) for pid in out.split()]


def backend_cpu():
    total = 0.0
    for pid in backend_pids():
        try:
            total += cpu_seconds(pid)
        except FileNotFoundError:
            pass
    return total


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Daemon:
    """A running sluice."""

    def __init__(self, sluice, *options, schemas="bench", config=None):
        self.port = free_port()
        self.dir = tempfile.mkdtemp(prefix="bench-")
        arguments = [sluice, "--listen", f"127.0.0.1:{self.port}", "--schemas", schemas,
                     "--log-level", "warning", *options]
        if config is not None:
            path = os.path.join(self.dir, "sluice.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(config, f)
            arguments += ["--config", path]
        self.log = open(os.path.join(self.dir, "log"), "w+", encoding="utf-8")
        self.started = time.monotonic()
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log)
        self.wait_ready()
        self.ready_after = time.monotonic() - self.started

    @property
    def pid(self):
        return self.process.pid

    def wait_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.log.seek(0)
                sys.exit("sluice has ended: " + self.log.read()[-2000:])
            try:
                if self.get("/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.01)
        sys.exit("sluice is not ready after 60 s")

    def get(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("GET", path, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.dir)


def timed(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return time.monotonic() - start


def curl(daemon, path):
    return timed(["curl", "-sS", "--fail", "-o", "/dev/null", daemon.url(path)])


def copy(sql):
    return timed(["psql", "-Xq", "-c", f"COPY ({sql}) TO STDOUT"])


def wrk(daemon, script, connections, seconds, path="/"):
    command = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    if script:
        command += ["-s", os.path.join(HERE, script)]
    out = subprocess.run([*command, daemon if isinstance(daemon, str) else daemon.url(path)],
                         check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in out or "Socket errors" in out:
        sys.exit("wrk saw errors:\n" + out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def pgbench(script, clients, seconds):
    command = ["pgbench", "-n", "-M", "prepared", "-j2", f"-c{clients}", f"-T{seconds}",
               "-f", os.path.join(HERE, script)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([\d.]+)", out).group(1))


# -- the rows of the table -----------------------------------------------------------------------

class Table:
    def __init__(self):
        self.rows = []

    def add(self, work, figure, goal, met):
        """met: None where there is no goal."""
        self.rows.append((work, figure, goal, {True: "yes", False: "NO", None: ""}[met]))
        aim = "" if met is None else f"  goal {goal:16} {'met' if met else 'NOT MET'}"
        print(f"{work:58} {figure:>44}{aim}", flush=True)

    def markdown(self):
        lines = ["| work | measured | goal | met |", "|---|---|---|---|"]
        lines += [f"| {w} | {f} | {g} | {m} |" for w, f, g, m in self.rows]
        return "\n".join(lines) + "\n"


def median_pairs(rounds, left, right):
    """Runs both sides in turns; the medians of each."""
    lefts, rights = [], []
    for _ in range(rounds):
        lefts.append(left())
        rights.append(right())
    return statistics.median(lefts), statistics.median(rights)


COLUMNS = "id, happened_at, kind, source, amount, ratio, ok, sequence, token, message"


def bench_full_feed(args, table):
    daemon = Daemon(args.sluice, "--workers", "2", config={
        "entities": {"bench.events10": {"key": ["id"]}}})
    try:
        curl(daemon, "/events")
        copy_s, feed_s = median_pairs(args.rounds, lambda: copy(f"SELECT {COLUMNS} FROM bench.events"),
                                      lambda: curl(daemon, "/events"))
        table.add("full feed, 1,000,000 rows: wall / COPY",
                  f"{feed_s:.2f} s / {copy_s:.2f} s = {feed_s / copy_s:.2f}", "<= 1.1",
                  feed_s / copy_s <= 1.1)
        ours, theirs = cpu_seconds(daemon.pid), backend_cpu()
        curl(daemon, "/events")
        ours, theirs = cpu_seconds(daemon.pid) - ours, backend_cpu() - theirs
        table.add("full feed: our CPU / the backend's",
                  f"{ours:.2f} s / {theirs:.2f} s = {ours / max(theirs, 0.01):.2f}", "<= 0.5",
                  ours / max(theirs, 0.01) <= 0.5)
        one = memory_kib(daemon.pid, "VmHWM")
        curl(daemon, "/events10")
        ten = memory_kib(daemon.pid, "VmHWM")
        table.add("peak RSS after 1,000,000 and 10,000,000 rows, 2 workers",
                  f"{one / 1024:.1f} MiB, {ten / 1024:.1f} MiB", "<= 24 MB, equal",
                  ten * 1024 <= 24e6 and ten - one <= 1024)
    finally:
        daemon.stop()


def bench_compression(args, table):
    """The full feed coded: what it saves on the line, and what it costs here."""
    daemon = Daemon(args.sluice, "--workers", "2", "--compression", "true")

    def feed(coding):
        ours = cpu_seconds(daemon.pid)
        sink = subprocess.run(["bash", "-c", 'curl -sf -H "Accept-Encoding: $0" "$1" | wc -c', coding, daemon.url("/events")],
                              check=True, stdout=subprocess.PIPE, text=True)
        return int(sink.stdout), cpu_seconds(daemon.pid) - ours
    try:
        feed("identity")
        runs = {coding: [feed(coding) for _ in range(args.rounds)] for coding in ("identity", "gzip", "zstd")}
        plain, plain_cpu = runs["identity"][0][0], statistics.median(cpu for _, cpu in runs["identity"])
        for coding in ("gzip", "zstd"):
            coded, cpu = runs[coding][0][0], statistics.median(cpu for _, cpu in runs[coding])
            table.add(f"full feed as {coding}: bytes, our CPU / those without",
                      f"{coded / plain:.2f}, {cpu:.2f} s / {plain_cpu:.2f} s = {cpu / plain_cpu:.2f}", "", None)
    finally:
        daemon.stop()


def bench_slow_readers(args, table):
    readers, seconds, rate = 200, 15, 20_000
    # Streams may hold three quarters of the connections to PostgreSQL.
    daemon = Daemon(args.sluice, "--workers", "2", "--db-pool-size", str(readers * 4 // 3 + 20),
                    "--max-connections", "1000")
    try:
        curl(daemon, "/events")
        before = memory_kib(daemon.pid, "VmRSS")
        sockets = []
        for _ in range(readers):
            s = socket.create_connection(("127.0.0.1", daemon.port))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
            s.sendall(b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
            sockets.append(s)
        peak, end = before, time.monotonic() + seconds
        while time.monotonic() < end:
            for s in select.select(sockets, [], [], 0)[0]:
                s.recv(rate // 10)
            peak = max(peak, memory_kib(daemon.pid, "VmRSS"))
            time.sleep(0.1)
        streaming = int(psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sluice'"
                             " AND state <> 'idle'"))
        for s in sockets:
            s.close()
        growth = (peak - before) / readers
        goal = 256 + 128
        table.add(f"RSS growth for each of {readers} slow readers ({streaming} streaming)",
                  f"{growth:.0f} KiB", f"<= {goal} KiB", growth <= goal and streaming >= readers * 0.9)
    finally:
        daemon.stop()


def bench_small_reads(args, table):
    daemon = Daemon(args.sluice, "--workers", "2")
    try:
        wrk(daemon, "entity_by_key.lua", 16, 2)
        for name, script, connections, goal in (
                ("entity by key", "entity_by_key", 16, 1.5), ("entity by key", "entity_by_key", 64, 1.5),
                ("page of 20, filter and order on an index", "page", 16, 1.0),
                ("page of 20, filter and order on an index", "page", 64, 1.0)):
            ours, theirs = median_pairs(min(args.rounds, 3),
                                        lambda: wrk(daemon, script + ".lua", connections, args.seconds),
                                        lambda: pgbench(script + ".pgbench", connections, args.seconds))
            table.add(f"{name}, {connections} connections: requests/s / pgbench tps",
                      f"{ours:,.0f} / {theirs:,.0f} = {ours / theirs:.2f}", f">= {goal}",
                      ours / theirs >= goal)
    finally:
        daemon.stop()


def bench_expand(args, table):
    daemon = Daemon(args.sluice, "--workers", "2")
    try:
        def copies():
            return (copy("SELECT id, name, note FROM bench.parents ORDER BY id") +
                    copy("SELECT p.id, c.id, c.parent_id, c.name, c.quantity, c.price FROM bench.parents p"
                         " JOIN bench.children c ON c.parent_id = p.id ORDER BY p.id"))
        path = "/parents?$expand=children&$orderby=id"
        curl(daemon, path)
        copy_s, expand_s = median_pairs(args.rounds, copies, lambda: curl(daemon, path))
        table.add("$expand, 100,000 parents x 10 children: wall / two COPYs",
                  f"{expand_s:.2f} s / {copy_s:.2f} s = {expand_s / copy_s:.2f}", "<= 1.2",
                  expand_s / copy_s <= 1.2)
    finally:
        daemon.stop()


def bench_inheritance(args, table):
    """A base with five derived types, and one plain table: with as many columns, and with those of all types."""
    daemon = Daemon(args.sluice, "--workers", "2")

    def cost(path):
        wall, before = curl(daemon, path), cpu_seconds(daemon.pid)
        return min(wall, curl(daemon, path)), cpu_seconds(daemon.pid) - before

    try:
        for plain, what in (("/plain_devices", "as many columns"), ("/flat_devices", "the columns of all types")):
            bases, plains = [], []
            for _ in range(args.rounds):
                bases.append(cost("/devices"))
                plains.append(cost(plain))
            base_s, base_cpu = (statistics.median(column) for column in zip(*bases))
            plain_s, plain_cpu = (statistics.median(column) for column in zip(*plains))
            table.add(f"feed of a base with 5 derived types, 1,000,000 rows / one table with {what}: wall",
                      f"{base_s:.2f} s / {plain_s:.2f} s = {base_s / plain_s:.2f}", "<= 1.10", base_s / plain_s <= 1.10)
            table.add("the same: our CPU", f"{base_cpu:.2f} s / {plain_cpu:.2f} s = {base_cpu / plain_cpu:.2f}", "<= 1.10",
                      base_cpu / plain_cpu <= 1.10)
    finally:
        daemon.stop()


def bench_deep_page(args, table):
    daemon = Daemon(args.sluice, "--workers", "2")
    try:
        headers = {"Prefer": "maxpagesize=20"}

        def link_of(path):
            body = json.loads(daemon.get(path, headers)[1])
            url = urllib.parse.urlsplit(body["@odata.nextLink"])
            return url.path + "?" + url.query

        second = link_of("/events?$orderby=id")
        deep = link_of("/events?$orderby=id&$skip=899980")

        def timing(path):
            times = []
            for _ in range(200):
                start = time.perf_counter()
                status, _ = daemon.get(path, headers)
                times.append(time.perf_counter() - start)
                assert status == 200
            return statistics.median(times)

        timing(second)
        first_s, deep_s = median_pairs(args.rounds, lambda: timing(second), lambda: timing(deep))
        table.add("next link: page 45,000 / page 2", f"{deep_s * 1e3:.3f} ms / {first_s * 1e3:.3f} ms ="
                  f" {deep_s / first_s:.2f}", "<= 1.1", deep_s / first_s <= 1.1)
    finally:
        daemon.stop()


def bench_many_tables(args, table):
    psql("DROP SCHEMA IF EXISTS many CASCADE; CREATE SCHEMA many")
    for first in range(0, 10000, 500):
        psql("DO $$ BEGIN FOR i IN %d..%d LOOP EXECUTE format('CREATE TABLE many.t%%s (id int PRIMARY KEY,"
             " name text NOT NULL, amount numeric(10,2), at timestamptz, other int)', i); END LOOP; END $$"
             % (first, first + 499))
    psql("VACUUM ANALYZE pg_catalog.pg_class, pg_catalog.pg_attribute, pg_catalog.pg_constraint")
    starts = []
    for _ in range(args.rounds):
        daemon = Daemon(args.sluice, "--workers", "2", schemas="many")
        starts.append(daemon.ready_after)
        if len(starts) < args.rounds:
            daemon.stop()
    start_s = statistics.median(starts)
    table.add("start with 10,000 tables", f"{start_s:.2f} s", "<= 2 s", start_s <= 2)
    try:
        document = daemon.get("/$metadata")[1]
        if shutil.which("nginx") is None:
            print("no nginx here: the row `$metadata` against a static file is left out", flush=True)
            return
        root = tempfile.mkdtemp(prefix="bench-static-")
        os.chmod(root, 0o755)
        port = free_port()
        with open(os.path.join(root, "metadata.xml"), "wb") as f:
            f.write(document)
        with open(os.path.join(root, "nginx.conf"), "w", encoding="ascii") as f:
            f.write(f"worker_processes 2; pid {root}/pid; error_log {root}/error; daemon off;"
                    "events {} http { access_log off; sendfile on; keepalive_requests 1000000;"
                    f"server {{ listen 127.0.0.1:{port}; root {root}; }} }}")
        nginx = subprocess.Popen(["nginx", "-c", os.path.join(root, "nginx.conf")],
                                 stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            ours, theirs = median_pairs(3, lambda: wrk(daemon, None, 16, args.seconds, "/$metadata"),
                                        lambda: wrk(f"http://127.0.0.1:{port}/metadata.xml", None, 16,
                                                    args.seconds))
            table.add(f"$metadata of {len(document) / 1e6:.1f} MB: rps / static file (nginx)",
                      f"{ours:,.0f} / {theirs:,.0f} = {ours / theirs:.2f}", ">= 0.5",
                      ours / theirs >= 0.5)
        finally:
            nginx.terminate()
            nginx.wait()
            shutil.rmtree(root)
    finally:
        daemon.stop()
        for first in range(0, 10000, 500):
            psql("DO $$ BEGIN FOR i IN %d..%d LOOP EXECUTE format('DROP TABLE many.t%%s', i); END LOOP; END $$"
                 % (first, first + 499))


ROWS = {
    "full-feed": bench_full_feed,
    "compression": bench_compression,
    "slow-readers": bench_slow_readers,
    "small-reads": bench_small_reads,
    "expand": bench_expand,
    "inheritance": bench_inheritance,
    "deep-page": bench_deep_page,
    "many-tables": bench_many_tables,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sluice", default="build/sluice")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    args = parser.parse_args()
    args.sluice = os.path.abspath(args.sluice)
    if psql("SELECT to_regclass('bench.events') IS NULL") == "t":
        print("loading loadtest/bench.sql ...", flush=True)
        subprocess.run(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-f", os.path.join(HERE, "bench.sql")],
                       check=True, stdout=subprocess.DEVNULL)
    table = Table()
    for name, bench in ROWS.items():
        if re.search(args.only, name):
            bench(args, table)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as f:
            f.write(table.markdown())


if __name__ == "__main__":
    main()
