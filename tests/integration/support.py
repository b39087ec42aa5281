"""What the integration tests share: PostgreSQL, the daemon, HTTP clients, waiting."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    """What a test found wrong, in a sentence."""


class Skipped(Exception):
    """Why a test could not be run here."""


def need(condition, message):
    if not condition:
        raise Failure(message)


def wait_for(condition, seconds, what, pause=0.02):
    """Asks until the condition holds and returns its value; fails after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        need(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(pause)


def uses_sanitizer(binary):
    """Whether it is linked with ASan or TSan, by the names of what it loads."""
    with open(binary, "rb") as f:
        return re.search(rb"\0lib[at]san\.so", f.read()) is not None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Postgres:
    """The cluster that with_postgres.sh has started."""

    def __init__(self):
        self.host = os.environ["PGHOST"]
        self.port = os.environ["PGPORT"]
        self.user = os.environ["PGUSER"]
        self.data = os.environ["PGTEST_DATA"]
        self.bin = os.environ["PGTEST_BIN"]
        self.databases = 0

    def uri(self, database):
        return f"host={self.host} port={self.port} user={self.user} dbname={database}"

    def sql(self, database, text):
        """Runs text and returns the rows as lines of fields with | between them."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.uri(database), "-f", "-"],
            input=text, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"psql: {done.stderr.strip()}")
        return done.stdout.strip()

    def create(self, text="", settings="", encoding="UTF8"):
        """A new database in which text has been run."""
        self.databases += 1
        name = f"test_{self.databases}"
        self.sql("postgres", f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}'"
                 f" LOCALE '{'C.UTF-8' if encoding == 'UTF8' else 'C'}'")
        if settings:
            self.sql("postgres", f"ALTER DATABASE {name} {settings}")
        if text:
            self.sql(name, text)
        return name

    def drop(self, name):
        self.sql("postgres", f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def backends(self, database, where="true"):
        """Other backends of the database, as dictionaries."""
        lines = self.sql("postgres", "SELECT pid, state, coalesce(xact_start::text, '') FROM pg_stat_activity"
                         f" WHERE datname = '{database}' AND pid <> pg_backend_pid() AND ({where})")
        return [dict(zip(("pid", "state", "xact"), line.split("|"))) for line in lines.splitlines()]

    def busy(self, database):
        """Backends that run a query or hold a transaction."""
        return self.backends(database, "state <> 'idle'")

    def control(self, *words):
        command = [os.path.join(self.bin, "pg_ctl"), "-D", self.data, "-w", *words]
        if os.getuid() == 0:
            user = os.environ.get("PGTEST_USER", "postgres")
            command = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", *command]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", check=False)
        need(done.returncode == 0, f"pg_ctl {' '.join(words)} failed")

    def stop(self, mode="fast"):
        self.control("-m", mode, "stop")

    def start(self):
        options = (f"-p {self.port} -k {self.host} -c listen_addresses=127.0.0.1 -c fsync=off"
                   " -c synchronous_commit=off -c full_page_writes=off -c max_connections=200")
        self.control("-l", os.path.join(self.data, "server.log"), "-o", options, "start")


class Daemon:
    """One sluice process on a free port of the loopback."""

    def __init__(self, binary, postgres, database, settings=None, entities=None, env=None, nofile=None):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="sluice-test.")
        self.port = free_port()
        self.database = database
        config = {"db-uri": postgres.uri(database), "listen": f"127.0.0.1:{self.port}"}
        config.update(settings or {})
        if entities:
            config["entities"] = entities
        self.prefix = "/" + config.get("base-path", "/").strip("/")
        self.prefix = "" if self.prefix == "/" else self.prefix
        path = os.path.join(self.folder, "sluice.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.log_path = os.path.join(self.folder, "log")
        command = [binary, "--config", path]
        if nofile:
            command = ["prlimit", f"--nofile={nofile}", *command]
        variables = {k: v for k, v in os.environ.items() if not k.startswith("SLUICE_")}
        variables.update(env or {})
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=variables)

    @property
    def root(self):
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def alive(self):
        return self.process.poll() is None

    def wait_ready(self, seconds=20):
        def ready():
            need(self.alive(), f"the daemon ended with {self.process.returncode}: {self.log()[-800:]}")
            try:
                return get(self, "/readyz", root="").status == 200
            except OSError:
                return False
        wait_for(ready, seconds, f"/readyz answers 200; log: {self.log()[-400:]}")
        return self

    def rss_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))

    def memory_can_be_judged(self):
        """A sanitizer keeps a shadow of each byte and holds freed blocks back."""
        if uses_sanitizer(self.binary):
            raise Skipped("memory says nothing under a sanitizer")

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self, number=signal.SIGTERM, seconds=20):
        """Ends the process, returns its exit status, and fails on what a sanitizer wrote."""
        if self.alive():
            self.process.send_signal(number)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"the daemon did not end within {seconds} s of signal {number}") from None
        log = self.log()
        for sign in ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "WARNING: ThreadSanitizer"):
            need(sign not in log, f"the daemon's log has a report: {log[log.find(sign):][:1500]}")
        return status

    def close(self):
        """Ends the process however it is and removes its folder."""
        if self.alive():
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Response:
    def __init__(self, status, headers, body, complete):
        self.status = status
        self.headers = headers  # list of (name, value), names as they came
        self.body = body
        self.complete = complete  # False: the body broke off before its end

    def header(self, name):
        values = [v for k, v in self.headers if k.lower() == name.lower()]
        return ", ".join(values) if values else None

    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return parse_json(self.body)


def parse_json(body):
    """Strict: UTF-8, numbers as Decimal, no NaN, no member twice."""
    def members(pairs):
        names = [name for name, _ in pairs]
        need(len(names) == len(set(names)), f"a member stands twice: {names}")
        return dict(pairs)

    def constant(name):
        raise Failure(f"not JSON: {name}")
    try:
        return json.loads(body.decode("utf-8"), parse_float=Decimal, parse_int=Decimal, parse_constant=constant,
                          object_pairs_hook=members)
    except (ValueError, UnicodeDecodeError) as e:
        raise Failure(f"the body is not JSON: {e}: {body[:200]!r}") from None


class Wire:
    """A client at the level of bytes: says what it likes, and reads as slowly as it likes."""

    def __init__(self, daemon, timeout=20, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(("127.0.0.1", daemon.port))
        self.host = f"127.0.0.1:{daemon.port}"
        self.prefix = daemon.prefix
        self.pending = b""

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))

    def request(self, method, target, headers=(), body=b"", version="HTTP/1.1"):
        lines = [f"{method} {target} {version}"]
        names = {name.lower() for name, _ in headers}
        if "host" not in names:
            lines.append(f"Host: {self.host}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body and "content-length" not in names and "transfer-encoding" not in names:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + body)

    def more(self):
        """Waits for more bytes; False when the other side has closed."""
        data = self.socket.recv(65536)
        self.pending += data
        return bool(data)

    def head(self):
        """Status, version and headers of the next response."""
        while b"\r\n\r\n" not in self.pending:
            if not self.more():
                raise ConnectionError(f"closed before the end of the header: {self.pending[:100]!r}")
        head, self.pending = self.pending.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status, *_ = first.split(" ", 2)
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines]
        return version, int(status), headers

    def take(self, count):
        while len(self.pending) < count:
            if not self.more():
                raise ConnectionError("closed inside the body")
        data, self.pending = self.pending[:count], self.pending[count:]
        return data

    def line(self):
        while b"\r\n" not in self.pending:
            if not self.more():
                raise ConnectionError("closed inside a chunk line")
        line, self.pending = self.pending.split(b"\r\n", 1)
        return line

    def chunked(self):
        """(body, complete) of a chunked body."""
        parts = []
        try:
            while True:
                size = int(self.line().split(b";")[0], 16)
                if size == 0:
                    while self.line():
                        pass
                    return b"".join(parts), True
                parts.append(self.take(size))
                need(self.take(2) == b"\r\n", "a chunk does not end in CR LF")
        except (ConnectionError, ValueError):
            return b"".join(parts) + self.pending, False

    def response(self, method="GET"):
        version, status, headers = self.head()
        found = {name.lower(): value for name, value in headers}
        if method == "HEAD" or status in (204, 304) or status < 200:
            return Response(status, headers, b"", True)
        if "chunked" in found.get("transfer-encoding", ""):
            need(version == "HTTP/1.1", "a chunked body in answer to HTTP/1.0")
            body, complete = self.chunked()
            return Response(status, headers, body, complete)
        if "content-length" in found:
            try:
                return Response(status, headers, self.take(int(found["content-length"])), True)
            except ConnectionError:
                return Response(status, headers, self.pending, False)
        complete = True
        try:
            while self.more():
                pass
        except ConnectionResetError:
            complete = False
        body, self.pending = self.pending, b""
        return Response(status, headers, body, complete)

    def is_closed(self, seconds):
        """True when the other side closes within that time."""
        self.socket.settimeout(seconds)
        try:
            while self.more():
                pass
            return True
        except socket.timeout:
            return False
        except ConnectionError:
            return True

    def close(self):
        self.socket.close()

    def reset(self):
        """Closes with RST instead of FIN."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def get(daemon, target, headers=(), method="GET", body=b"", root=None, timeout=20):
    """One request on a connection of its own."""
    prefix = daemon.prefix if root is None else root
    with Wire(daemon, timeout) as wire:
        wire.request(method, prefix + target, [*headers, ("Connection", "close")], body)
        return wire.response(method)


LEAKS = re.compile(r"\b(SELECT|INSERT|UPDATE|FROM)\b.*\bpg_|SQLSTATE|syntax error at or near|libpq|PQ[a-z]+|/tmp/|\.c:\d+")


def check_error_body(response):
    """An error is an OData error document that tells the client nothing about the inside."""
    kind = response.header("Content-Type") or ""
    need(kind.startswith("application/json"), f"an error of type {kind!r}: {response.body[:200]!r}")
    error = response.json().get("error")
    need(isinstance(error, dict) and error.get("code") and error.get("message"), f"no OData error: {response.body[:200]!r}")
    need(not LEAKS.search(response.text()), f"the error tells about the inside: {response.text()[:300]}")
