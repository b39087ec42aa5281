"""HTTP at the level of bytes: versions, bad heads, slow heads, limits, the end of the process."""
import re
import signal
import socket
import subprocess
import time

from support import Daemon, Wire, check_error_body, free_port, get, need, wait_for

TABLE = """
CREATE TABLE p (id int PRIMARY KEY, name text);
INSERT INTO p SELECT g, repeat('y', 100) FROM generate_series(1, 30000) g;
"""


def start(env, settings=None, **more):
    return env.daemon(env.database(TABLE), settings, **more)


def exchange(daemon, data, seconds=5):
    """Sends bytes on a new connection and returns all that comes back until it closes, or time is up."""
    with Wire(daemon, timeout=seconds) as wire:
        wire.send(data)
        closed = wire.is_closed(seconds)
        return wire.pending, closed


def test_http_1_0_is_not_chunked(env):
    daemon = start(env)
    with Wire(daemon) as wire:
        wire.send("GET /p HTTP/1.0\r\nHost: x\r\n\r\n")
        response = wire.response()
    need(response.status == 200 and response.complete, f"status {response.status}")
    need(response.header("Transfer-Encoding") is None, "chunked in answer to HTTP/1.0")
    need(len(response.json()["value"]) == 30000, "rows are missing")


def test_head_has_no_body(env):
    daemon = start(env)
    for target in ("/p", "/p(1)", "/$metadata", "/", "/nothing", "/p/$count"):
        with Wire(daemon) as wire:
            wire.request("HEAD", target)
            response = wire.response("HEAD")
            need(response.header("OData-Version") == "4.0", f"{target}: OData-Version {response.header('OData-Version')}")
            if response.header("Content-Length") is None:  # of unknown length: the connection ends instead
                need(wire.is_closed(2) and not wire.pending, f"HEAD {target} is followed by {wire.pending[:60]!r}")
                continue
            wire.request("GET", "/p(2)")
            response = wire.response()
            need(response.status == 200 and response.json()["id"] == 2, f"after HEAD {target}: {response.body!r}")


def test_one_connection_serves_many_requests(env):
    daemon = start(env)
    with Wire(daemon) as wire:
        for i in range(1, 51):
            wire.request("GET", f"/p({i})")
            need(wire.response().json()["id"] == i, "an answer to another request")


def test_pipelined_requests_are_answered_in_order(env):
    daemon = start(env)
    with Wire(daemon) as wire:
        targets = ["/p(1)", "/p?$top=3000&$orderby=id", "/p(2)", "/$metadata", "/p(3)"]
        for target in targets:
            wire.request("GET", target)
        answers = [wire.response() for _ in targets]
    need([a.status for a in answers] == [200] * 5, f"statuses {[a.status for a in answers]}")
    need([answers[i].json()["id"] for i in (0, 2, 4)] == [1, 2, 3], "out of order")
    need(len(answers[1].json()["value"]) == 3000, "rows are missing")


GET2 = b"GET /p(2) HTTP/1.1\r\nHost: x\r\n\r\n"
SMUGGLING = {
    "content-length and transfer-encoding": b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GET2,
    "two content-lengths": b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 33\r\n\r\n" + GET2,
    "a blank before the colon": b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length : 33\r\n\r\n" + GET2,
    "an unknown transfer-encoding": b"POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n" + GET2,
    "a signed content-length": b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: +33\r\n\r\n" + GET2,
    "a huge content-length": b"POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n" + GET2,
    "chunked in HTTP/1.0": b"POST /p HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GET2,
}


BAD = {
    "two hosts": b"GET /p(1) HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" + GET2,
    "an absolute path is missing": b"GET p(1) HTTP/1.1\r\nHost: x\r\n\r\n" + GET2,
    "no host": b"GET /p(1) HTTP/1.1\r\n\r\n" + GET2,
    "a control byte in a header": b"GET /p(1) HTTP/1.1\r\nHost: x\r\nA: b\x01c\r\n\r\n" + GET2,
}


def test_requests_that_could_hide_another_are_refused(env):
    daemon = start(env)
    for name, data in SMUGGLING.items():
        answer, closed = exchange(daemon, data)
        # libmicrohttpd writes the head of some of its own refusals twice, so only their status counts.
        statuses = re.findall(rb"HTTP/1\.[01] (\d)", answer)
        need(set(statuses) <= {b"4", b"5"}, f"{name}: {answer[:300]!r}")
        need(b'"name":"yyy' not in answer, f"{name}: the hidden request was served")
        need(closed, f"{name}: the connection stays open after {answer[:60]!r}")
    for name, data in BAD.items():
        answer, _ = exchange(daemon, data, 1)
        statuses = re.findall(rb"HTTP/1\.[01] (\d)", answer)
        need(not statuses or statuses[0] == b"4", f"{name}: {answer[:300]!r}")
    need(get(daemon, "/p(1)").status == 200, "no service afterwards")


def test_a_slow_head_is_cut_off(env):
    daemon = start(env, {"header-timeout": "700ms"})
    with Wire(daemon) as wire:
        wire.send("GET /p(1) HTTP/1.1\r\nHost: x\r\n")
        begin = time.monotonic()
        wire.socket.settimeout(0.1)
        while time.monotonic() - begin < 4:
            try:
                wire.send("A")  # a byte now and then must not buy more time
                if not wire.more():
                    break
            except socket.timeout:
                continue
            except OSError:
                break
        took = time.monotonic() - begin
    need(took < 3, f"a dripping head lived {took:.1f} s with header-timeout 700ms")


def test_a_silent_connection_is_closed(env):
    daemon = start(env, {"idle-timeout": "500ms", "header-timeout": "500ms"})
    with Wire(daemon) as wire:
        need(wire.is_closed(4), "a connection that never said anything stays open")
    with Wire(daemon) as wire:
        wire.request("GET", "/p(1)")
        need(wire.response().status == 200, "no answer")
        need(wire.is_closed(4), "a connection stays open beyond idle-timeout")


def test_a_url_that_is_too_long(env):
    daemon = start(env, {"max-url-bytes": "8KiB"})
    ok = get(daemon, "/p?$top=1&$filter=" + "%20or%20".join(f"id%20eq%20{n}" for n in range(1, 330)))
    need(ok.status == 200, f"7,900 bytes: {ok.status} {ok.body[:200]!r}")
    for length in (9_000, 14_000, 70_000):
        response = get(daemon, "/p?x=" + "a" * length)
        need(response.status == 414, f"{length} bytes: status {response.status}")
        if length < 60_000:  # beyond its own buffer libmicrohttpd answers before us
            check_error_body(response)
    need(get(daemon, "/p(1)").status == 200, "no service afterwards")


def test_a_body_that_is_too_large(env):
    daemon = start(env, {"max-body-bytes": "1KiB"})
    response = get(daemon, "/p", [("Content-Type", "application/json")], "POST", b"{" + b" " * 5000 + b"}")
    need(response.status == 413, f"status {response.status}")
    need(get(daemon, "/p(1)").status == 200, "no service afterwards")


def test_descriptors_run_out_and_come_back(env):
    daemon = start(env, {"max-connections": 20, "db-pool-size": 2, "workers": 1}, nofile=120)
    get(daemon, "/p(1)")
    wires = []
    try:
        for _ in range(200):
            wires.append(Wire(daemon, timeout=2))
        before = daemon.cpu_seconds()
        time.sleep(1)  # the second over which CPU is measured
        used = daemon.cpu_seconds() - before
        need(used < 0.3, f"{used:.2f} s of CPU in one second without descriptors")
        need(len(daemon.log()) < 100_000, "the log is flooded")
    finally:
        for wire in wires:
            wire.close()

    def serves():
        try:
            return get(daemon, "/p(1)", timeout=1).status == 200
        except OSError:
            return False
    wait_for(serves, 2, "service again")
    wait_for(lambda: daemon.descriptors() < 60, 3, f"descriptors are given back: {daemon.descriptors()}")


def test_a_full_house_lets_others_in_when_one_leaves(env):
    daemon = start(env, {"max-connections": 4, "workers": 1})
    wires = [Wire(daemon) for _ in range(4)]
    for wire in wires:
        wire.request("GET", "/p(1)")
        wire.response()
    wires.pop().close()

    def serves():
        try:
            return get(daemon, "/p(1)", timeout=0.5).status == 200
        except OSError:
            return False
    try:
        wait_for(serves, 2, "another client is let in")
    finally:
        for wire in wires:
            wire.close()


def test_workers_have_as_many_clients_each(env):
    daemon = start(env, {"workers": 4})

    def gauge(name):
        lines = get(daemon, "/metrics", root="").text().splitlines()
        return next(int(line.split()[-1]) for line in lines if line.startswith(name + " "))
    wires = [Wire(daemon) for _ in range(160)]
    try:
        wait_for(lambda: gauge("sluice_connections") > 160, 5, "all are accepted")
        most = gauge("sluice_worker_connections_most")
        need(40 <= most <= 43, f"{most} of 160 clients are with one of four workers")
        for i, wire in enumerate(wires):
            wire.request("GET", f"/p({i + 1})")
        for i, wire in enumerate(wires):
            need(wire.response().json()["id"] == i + 1, "an answer to another request")
    finally:
        for wire in wires:
            wire.close()


def test_sigterm_lets_running_responses_end(env):
    daemon = start(env)
    with Wire(daemon, receive_buffer=16384) as wire, Wire(daemon) as idle:
        idle.request("GET", "/p(1)")
        idle.response()
        wire.request("GET", "/p")
        need(wire.head()[1] == 200, "no stream")
        daemon.process.send_signal(signal.SIGTERM)
        need(idle.is_closed(3), "an idle connection stays open while draining")
        body, complete = wire.chunked()
        need(complete, f"the running response broke after {len(body)} bytes")
    status = daemon.process.wait(5)
    need(status == 0, f"exit status {status}: {daemon.log()[-400:]}")


class Admin:
    """The admin listener of a daemon, for get()."""

    def __init__(self, port):
        self.port, self.prefix = port, ""


def test_the_admin_listener_answers_while_draining(env):
    admin = Admin(free_port())
    daemon = Daemon(env.binary, env.postgres, env.database(TABLE), {"admin-listen": f"127.0.0.1:{admin.port}", "workers": 2})
    env.daemons.append(daemon)

    def ready():
        try:
            return get(admin, "/readyz").status == 200
        except OSError:
            return False
    wait_for(ready, 10, "the admin listener answers")
    with Wire(daemon, receive_buffer=16384) as wire:
        wire.request("GET", "/p")
        need(wire.head()[1] == 200, "no stream")
        daemon.process.send_signal(signal.SIGTERM)
        wait_for(lambda: get(admin, "/readyz").status == 503, 3, "/readyz says that it drains")
        need(get(admin, "/readyz").text() == "draining\n", "why it is not ready")
        need(get(admin, "/healthz").status == 200, "/healthz: the process lives")
        need("sluice_requests_total" in get(admin, "/metrics").text(), "no metrics")
        need(daemon.alive(), "the daemon did not wait for its stream")
        _, complete = wire.chunked()
        need(complete, "the running response broke")
    need(daemon.process.wait(5) == 0, f"exit status {daemon.process.returncode}: {daemon.log()[-400:]}")


UNREADABLE = {
    "garbage": b"\x00\x01\x02\x03\r\n\r\n",
    "a TLS ClientHello": bytes.fromhex("16030100c8010000c403") + b"\x11" * 190,
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a URL of 200 KB": b"GET /p?a=" + b"x" * 200000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
}


def test_what_is_no_request_is_counted_and_logged(env):
    daemon = start(env, {"header-timeout": "1s"})

    def count():
        return int(re.search(r'why="unreadable"} (\d+)', get(daemon, "/metrics", root="").text()).group(1))
    for name, data in UNREADABLE.items():
        before = count()
        with Wire(daemon, timeout=5) as wire:
            try:
                wire.send(data)
                wire.socket.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has closed already
            need(wire.is_closed(5), f"{name}: the connection stays open")
            need(b" 200 " not in wire.pending[:20], f"{name}: {wire.pending[:40]!r}")
        wait_for(lambda before=before: count() == before + 1, 3, f"{name} is counted")
    wait_for(lambda: daemon.log().count("event=unreadable_request") == len(UNREADABLE), 3, "the log says so")


def test_501_is_a_class_of_its_own(env):
    daemon = start(env)

    def counts():
        lines = get(daemon, "/metrics", root="").text().splitlines()
        return {line.split('"')[1]: int(line.split()[-1]) for line in lines if line.startswith("sluice_requests_total{")}
    before = counts()
    need(get(daemon, "/p", method="TRACE").status == 501, "TRACE")
    wait_for(lambda: counts()["501"] == before["501"] + 1, 3, "a 501 is counted")
    need(counts()["5xx"] == before["5xx"], f"{before} {counts()}")


def test_sigterm_ends_at_the_deadline(env):
    daemon = start(env, {"drain-timeout": "500ms"})
    with Wire(daemon, receive_buffer=4096) as wire:
        wire.request("GET", "/p")
        wire.head()
        begin = time.monotonic()
        daemon.process.send_signal(signal.SIGINT)
        status = daemon.process.wait(5)
        need(status == 0, f"exit status {status}: {daemon.log()[-400:]}")
        need(time.monotonic() - begin < 3, "the deadline was not kept")
        try:
            _, complete = wire.chunked()
        except OSError:
            complete = False
        need(not complete, "what was cut off looks whole")


def run(env, *arguments):
    return subprocess.run([env.binary, *arguments], capture_output=True, text=True, timeout=20, check=False)


def test_commands_that_do_not_serve(env):
    big = ("CREATE TABLE big (id int PRIMARY KEY, a text); "
           "INSERT INTO big SELECT i, 'x' FROM generate_series(1, 100001) i; ANALYZE big;")
    database = env.database(TABLE + "CREATE TABLE keyless (a int);" + big)
    uri = env.postgres.uri(database)
    version = run(env, "--version")
    need(version.returncode == 0 and "sluice" in version.stdout.lower(), f"--version: {version}")
    help_text = run(env, "--help")
    need(help_text.returncode == 0 and "--max-page-size" in help_text.stdout, "--help")
    shown = run(env, "--print-config", "--db-uri", "postgresql://a:geheim@h/x")
    need(shown.returncode == 0 and "geheim" not in shown.stdout + shown.stderr and "***" in shown.stdout, f"{shown}")
    check = run(env, "--check", "--db-uri", uri)
    need(check.returncode == 0 and "p" in check.stdout.split(), f"--check: {check}")
    need("keyless" in check.stdout + check.stderr, "--check says nothing of a table without a key")
    slow = [line for line in check.stdout.splitlines() if "$search" in line]
    need(len(slow) == 1 and "public.big:" in slow[0], f"--check, of tables that no index serves: {check.stdout}")
    nothing = run(env, "--check", "--db-uri", env.postgres.uri(env.database("CREATE TABLE k (a int)")))
    need(nothing.returncode == 0 and "nothing to serve" in nothing.stdout, f"--check of no sets: {nothing}")
    need(nothing.stdout.endswith("0 entity sets, 2 warnings\n"), f"--check counts: {nothing}")
    metadata = run(env, "--print-metadata", "--db-uri", uri)
    need(metadata.returncode == 0 and metadata.stdout.startswith("<?xml"), f"--print-metadata: {metadata}")
    empty = run(env, "--print-metadata", "--db-uri", env.postgres.uri(env.database()))
    need('<EntityContainer Name="Container">' in empty.stdout, f"a database without tables: {empty.stdout}")
    bad = run(env, "--check", "--db-uri", uri + "x")
    need(bad.returncode == 1 and bad.stderr, f"--check without a database: {bad}")
    slip = run(env, "--max-page-sise", "5")
    need(slip.returncode != 0 and "max-page-size" in slip.stderr, f"a slip: {slip}")


def test_an_address_in_use_is_said(env):
    daemon = start(env)
    second = run(env, "--db-uri", env.postgres.uri(daemon.database), "--listen", f"127.0.0.1:{daemon.port}")
    need(second.returncode != 0 and str(daemon.port) in second.stderr, f"{second}")


def test_health_check_asks_the_running_service(env):
    daemon = start(env)
    good = run(env, "--health-check", "--listen", f"127.0.0.1:{daemon.port}")
    need(good.returncode == 0, f"{good}")
    daemon.stop()
    bad = run(env, "--health-check", "--listen", f"127.0.0.1:{daemon.port}")
    need(bad.returncode == 1, f"{bad}")


def test_the_log_shows_the_sql_at_debug(env):
    database = env.database("CREATE TABLE t (id int PRIMARY KEY, name text)")
    daemon = env.daemon(database, {"log-level": "debug"})
    need(get(daemon, "/t?$filter=name%20eq%20'secret'&$count=true").status == 200, "no answer")
    wait_for(lambda: "target=\"/t?" in daemon.log(), 5, "the request is in the log")
    lines = [line for line in daemon.log().splitlines() if "event=sql" in line]
    need(any("for=rows" in line and "parameters=1" in line and "SELECT" in line for line in lines), f"the log has {lines}")
    need(any("for=count" in line for line in lines), f"the log has {lines}")
    need("secret" not in "".join(lines), "the log shows a value")


def test_a_request_that_fills_its_memory_has_a_whole_error(env):
    """The type of the answer is not taken from what is full."""
    daemon = start(env)
    body = "$filter=id in (" + ",".join(str(i) for i in range(70000)) + ")"
    response = get(daemon, "/p/$query", [("Content-Type", "text/plain")], method="POST", body=body.encode())
    check_error_body(response)
    need(response.status == 400, f"{response.status}")
