"""PostgreSQL goes and comes back, and its tables change while the daemon serves."""
import signal
import threading
import time

from support import Daemon, Failure, Wire, get, need, wait_for

TABLES = """
CREATE TABLE p (id int PRIMARY KEY, name text, old int);
INSERT INTO p SELECT g, 'n' || g, g FROM generate_series(1, 1000) g;
CREATE TABLE q (id int PRIMARY KEY);
CREATE VIEW big AS SELECT id, repeat('x', 200) AS s FROM (SELECT generate_series(1, 60000) AS id) v;
"""
KEYS = {"public.big": {"key": ["id"]}}


def answers(daemon, target):
    try:
        return get(daemon, target).status
    except OSError:
        return None


def start(env, settings=None):
    return env.daemon(env.database(TABLES), settings, entities=KEYS)


def test_restart_gives_503_meanwhile_and_service_again(env):
    daemon = start(env)
    need(get(daemon, "/p(1)").status == 200, "no service")
    env.postgres.stop("fast")
    try:
        response = wait_for(lambda: (lambda r: r if r.status == 503 else None)(get(daemon, "/p(1)")), 2, "503 while down")
        need(response.header("Retry-After"), "no Retry-After")
        need(response.json()["error"]["code"], "no error document")
        need(get(daemon, "/healthz").status == 200, "/healthz: the process lives")
        wait_for(lambda: get(daemon, "/readyz").status == 503, 3, "/readyz is 503")
        need(get(daemon, "/$metadata").status == 200, "$metadata needs no database")
    finally:
        env.postgres.start()
    wait_for(lambda: get(daemon, "/p(1)").status == 200, 2, "service again")
    wait_for(lambda: get(daemon, "/readyz").status == 200, 2, "/readyz again")


def test_a_start_before_the_database(env):
    database = env.database(TABLES)
    env.postgres.stop("fast")
    try:
        daemon = Daemon(env.binary, env.postgres, database)
        env.daemons.append(daemon)
        wait_for(lambda: answers(daemon, "/healthz") == 200, 5, "the process lives")
        need(answers(daemon, "/readyz") == 503, "ready without a database")
        response = get(daemon, "/p(1)")
        need(response.status == 503 and response.header("Retry-After"), f"{response.status} {response.body!r}")
    finally:
        env.postgres.start()
    wait_for(lambda: answers(daemon, "/p(1)") == 200, 3, "service")


def test_immediate_restart_under_requests(env):
    daemon = start(env)
    statuses, wrong, stop = set(), [], threading.Event()

    def client():
        while not stop.is_set():
            try:
                response = get(daemon, "/p(7)")
                statuses.add(response.status)
                if response.status == 200 and response.json()["name"] != "n7":
                    wrong.append(response.body)
                if response.status == 503 and not response.header("Retry-After"):
                    wrong.append("503 without Retry-After")
            except OSError as e:
                wrong.append(str(e))
            time.sleep(0.01)
    threads = [threading.Thread(target=client) for _ in range(4)]
    for t in threads:
        t.start()
    try:
        wait_for(lambda: 200 in statuses, 3, "service")
        env.postgres.stop("immediate")
        wait_for(lambda: 503 in statuses, 3, "503 while down")
        env.postgres.start()
        statuses.discard(200)
        wait_for(lambda: 200 in statuses, 3, "service again")
    finally:
        stop.set()
        for t in threads:
            t.join()
    need(statuses <= {200, 503}, f"statuses {statuses}")
    need(not wrong, f"{len(wrong)} wrong answers: {wrong[:3]}")


def has_column(daemon, name):
    return f'Name="{name}"' in get(daemon, "/$metadata").text()


def reload_while_a_response_runs(env, reload):
    daemon = start(env)
    with Wire(daemon, receive_buffer=16384) as wire:
        wire.request("GET", "/big")
        need(wire.head()[1] == 200, "no stream")
        env.postgres.sql(daemon.database, "ALTER TABLE p ADD COLUMN fresh int")
        need(not has_column(daemon, "fresh"), "the model changed by itself")
        reload(daemon)
        wait_for(lambda: has_column(daemon, "fresh"), 2, "the new column is published")
        body, complete = wire.chunked()
    need(complete, f"the running response broke after {len(body)} bytes")
    response = get(daemon, "/p(1)")
    need(response.status == 200 and response.json()["fresh"] is None, f"{response.status} {response.body!r}")


def test_sighup_reloads_while_a_response_runs(env):
    reload_while_a_response_runs(env, lambda daemon: daemon.process.send_signal(signal.SIGHUP))


def test_notify_reloads_while_a_response_runs(env):
    reload_while_a_response_runs(env, lambda daemon: env.postgres.sql(daemon.database, "NOTIFY sluice, 'reload'"))


def test_sighup_many_times_under_requests(env):
    daemon = start(env)
    for i in range(20):
        daemon.process.send_signal(signal.SIGHUP)
        response = get(daemon, f"/p({i + 1})")
        need(response.status == 200 and response.json()["id"] == i + 1, f"{response.status} {response.body!r}")


def test_a_column_dropped_under_the_server(env):
    daemon = start(env)
    need(get(daemon, "/p(1)?$select=old").json()["old"] == 1, "no column")
    env.postgres.sql(daemon.database, "ALTER TABLE p DROP COLUMN old")
    seen = set()

    def whole():
        response = get(daemon, "/p(1)")
        seen.add(response.status)
        return response.status == 200 and "old" not in response.json()
    wait_for(whole, 3, f"the new shape is served; seen {seen}")
    need(seen <= {200, 404, 410, 503}, f"statuses {seen}")
    need(get(daemon, "/p(1)?$select=old").status == 400, "the dropped column is unknown")


def test_a_table_dropped_under_the_server(env):
    daemon = start(env)
    need(get(daemon, "/q").status == 200, "no table")
    env.postgres.sql(daemon.database, "DROP TABLE q")
    seen = set()

    def gone():
        seen.add(get(daemon, "/q").status)
        return get(daemon, "/q").status == 404
    wait_for(gone, 3, f"the dropped set is 404; seen {seen}")
    need(seen <= {404, 410, 503}, f"statuses {seen}")


def test_a_column_that_changes_its_type(env):
    daemon = start(env)
    need(get(daemon, "/p(1)?$select=old").json()["old"] == 1, "no column")
    env.postgres.sql(daemon.database, "ALTER TABLE p ALTER COLUMN old TYPE text USING 'v' || old")
    env.postgres.sql(daemon.database, "NOTIFY sluice, 'reload'")
    seen = set()

    def changed():
        response = get(daemon, "/p(1)?$select=old")
        seen.add(response.status)
        return response.status == 200 and response.json()["old"] == "v1"
    wait_for(changed, 3, f"the new type is served; seen {seen}")
    need(seen <= {200, 503}, f"statuses {seen}")


class Readers:
    """Threads that read the targets over and over on connections of their own, until the block ends."""

    def __init__(self, daemon, targets, count):
        self.daemon, self.targets = daemon, targets
        self.wrong, self.answered = [], 0
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.read) for _ in range(count)]

    def read(self):
        with Wire(self.daemon) as wire:
            while not self.over.is_set():
                for target in self.targets:
                    try:
                        wire.request("GET", target)
                        response = wire.response()
                    except (OSError, Failure) as e:
                        self.wrong.append(f"{target}: {e}")
                        return
                    self.answered += 1
                    if response.status != 200:
                        self.wrong.append(f"{target}: {response.status} {response.body[:200]!r}")

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def wait_for_answers(self, count):
        end = self.answered + count
        wait_for(lambda: self.answered >= end or not any(t.is_alive() for t in self.threads), 10, "answers")


SHORT_READS = ("/p(7)", "/p(8)?$select=name", "/p?$filter=id%20le%2020&$orderby=id&$top=20", "/p/$count")


def test_tables_change_under_short_reads(env):
    """Each change makes all prepared statements of the table useless, on all connections."""
    database = env.database(TABLES + "ALTER TABLE p ALTER name TYPE varchar(10);")
    daemon = env.daemon(database, {"workers": 2, "db-pool-size": 16})
    with Readers(daemon, SHORT_READS, 8) as readers:
        readers.wait_for_answers(400)
        for width in range(11, 41):
            env.postgres.sql(database, f"ALTER TABLE p ALTER name TYPE varchar({width}); ALTER TABLE p ADD c{width} int;")
            readers.wait_for_answers(20)
    need(not readers.wrong, f"{len(readers.wrong)} of {readers.answered} failed: {readers.wrong[:3]}")
    need(readers.answered > 600, f"{readers.answered} answers")


def test_idle_connections_that_end_are_not_noticed(env):
    """What the server closed while nobody used it costs no reader an answer, whatever it asks for."""
    daemon = start(env, {"workers": 2, "db-pool-size": 16})
    targets = (*SHORT_READS, "/p?$filter=id%20gt%20500", "/p?$count=true&$top=5")
    for round_number in range(30):
        with Readers(daemon, targets, 6) as readers:
            readers.wait_for_answers(60)
        for _ in range(2):
            ended = env.postgres.sql(
                "postgres", "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                f" WHERE datname = '{daemon.database}' AND query NOT LIKE 'LISTEN%'")
            need(int(ended) > 0, "there was no connection to end")
            for target in targets:
                response = get(daemon, target)
                need(response.status == 200, f"round {round_number}, {target}: {response.status} {response.body!r}")
        need(not readers.wrong, f"{readers.wrong[:3]}")


def test_connections_that_end_under_short_reads(env):
    """All at once, as an operator or a failover does it: they are read again on new ones."""
    daemon = start(env, {"workers": 2, "db-pool-size": 16})
    with Readers(daemon, SHORT_READS, 8) as readers:
        for _ in range(20):
            readers.wait_for_answers(100)
            env.postgres.sql("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                             f" WHERE datname = '{daemon.database}' AND query NOT LIKE 'LISTEN%'")
    need(not readers.wrong, f"{len(readers.wrong)} of {readers.answered} failed: {readers.wrong[:3]}")


def test_a_role_that_may_not_read(env):
    daemon = start(env)
    env.postgres.sql(daemon.database, "DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN; GRANT SELECT (id) ON p TO poor;"
                     " GRANT USAGE ON SCHEMA public TO poor")
    try:
        uri = env.postgres.uri(daemon.database).replace(f"user={env.postgres.user}", "user=poor")
        poor = env.daemon(daemon.database, {"db-uri": uri})
        response = get(poor, "/p(1)")
        need(response.status == 200 and set(response.json()) == {"@odata.context", "id"} or response.status in (403, 404),
             f"{response.status} {response.body!r}")
        need(get(poor, "/q").status in (403, 404), "a table without rights")
        poor.stop()
    finally:
        env.postgres.sql(daemon.database, "DROP OWNED BY poor; DROP ROLE poor")


def test_a_database_in_latin1(env):
    daemon = env.daemon(env.database("CREATE TABLE t (id int PRIMARY KEY, name text);"
                                     "INSERT INTO t VALUES (1, 'caf' || chr(233)), (2, 'x');", encoding="LATIN1"))
    need([row["name"] for row in get(daemon, "/t").json()["value"]] == ["caf\u00e9", "x"], "the values are converted")
    response = get(daemon, "/t?$filter=name%20eq%20'caf%C3%A9'")
    need([row["id"] for row in response.json()["value"]] == [1], f"{response.body!r}")
    response = get(daemon, "/t?$filter=name%20eq%20'%E2%82%AC'")
    need(response.status == 400, f"a character that LATIN1 does not have: {response.status}")


def test_a_text_that_is_not_valid_in_its_encoding(env):
    daemon = env.daemon(env.database(
        "CREATE TABLE t (id int PRIMARY KEY, name text);"
        "INSERT INTO t VALUES (1, 'ok'), (2, E'caf\\351'), (3, E'caf\\303\\251');"
        "CREATE TABLE big AS SELECT i id, repeat('x', 200) || CASE WHEN i = 50000 THEN E'\\351' ELSE '' END AS name"
        " FROM generate_series(1, 60000) i; ALTER TABLE big ADD PRIMARY KEY (id);", encoding="SQL_ASCII"))
    need(get(daemon, "/t(1)").json()["name"] == "ok", "ASCII")
    need(get(daemon, "/t(3)").json()["name"] == "caf\u00e9", "what is UTF-8 by luck")
    for target in ("/t(2)", "/t", "/t(2)/name", "/t(2)/name/$value"):
        response = get(daemon, target)
        need(response.status == 500, f"{target}: {response.status} {response.body!r}")
        need(response.json()["error"]["code"] == "BadData", f"{response.body!r}")
    wait_for(lambda: "invalid byte sequence" in daemon.log(), 3, "the log says what is wrong")
    response = get(daemon, "/big")
    need(response.status == 200 and not response.complete, "a stream over a bad text looks whole")
    response = get(daemon, "/t?$filter=id%20ne%202")
    need([row["id"] for row in response.json()["value"]] == [1, 3], "the others are served")
