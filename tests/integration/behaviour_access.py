"""What the role may not do is said: read tables, connect."""
import os
import subprocess

from support import Daemon, get, need, wait_for


def run(env, *arguments):
    return subprocess.run([env.binary, *arguments], capture_output=True, text=True, timeout=20, check=False)


def test_tables_that_the_role_may_not_read_are_named(env):
    database = env.database("""
        CREATE TABLE seen (id int PRIMARY KEY);
        CREATE TABLE partly (id int PRIMARY KEY, secret text);
        CREATE TABLE salaries (id int PRIMARY KEY);
        CREATE VIEW "the board" AS SELECT 1 AS id;
        CREATE TABLE parted (id int PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parted DEFAULT;
        DROP ROLE IF EXISTS check_reader;
        CREATE ROLE check_reader LOGIN;
        GRANT USAGE ON SCHEMA public TO check_reader;
        GRANT SELECT ON seen, parted TO check_reader;
        GRANT SELECT (id) ON partly TO check_reader;""")
    uri = env.postgres.uri(database).replace(f"user={env.postgres.user}", "user=check_reader")
    check = run(env, "--check", "--db-uri", uri)
    lines = [line for line in check.stdout.splitlines() if "may not SELECT" in line]
    need(len(lines) == 1 and lines[0].startswith("warning: public: left out:"), f"{check.stdout}")
    need("from 2 of its tables and views: salaries, the board;" in lines[0], f"{lines}")
    need("3 entity sets, 1 warning\n" in check.stdout, f"{check.stdout}")
    env.postgres.sql(database, "DROP OWNED BY check_reader; DROP ROLE check_reader")


class Passwords:
    """As long as this is open, the role needs_password needs one, which is 'right'."""

    def __init__(self, postgres):
        self.postgres = postgres
        self.path = os.path.join(postgres.data, "pg_hba.conf")
        with open(self.path, encoding="utf-8") as f:
            self.rules = f.read()

    def write(self, rules):
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(rules)
        self.postgres.sql("postgres", "SELECT pg_reload_conf()")

    def __enter__(self):
        self.postgres.sql("postgres", "DROP ROLE IF EXISTS needs_password;"
                          " CREATE ROLE needs_password LOGIN PASSWORD 'right'")
        self.write("local all needs_password scram-sha-256\n" + self.rules)
        uri = self.postgres.uri("postgres").replace(f"user={self.postgres.user}", "user=needs_password")
        wait_for(lambda: subprocess.run(["psql", "-w", "-X", "-c", "", "-d", uri], capture_output=True,
                                        check=False).returncode != 0, 10, "a password is asked for")
        return uri

    def __exit__(self, *_):
        self.write(self.rules)
        self.postgres.sql("postgres", "DROP ROLE needs_password")


def test_why_the_database_does_not_let_us_in_is_said(env):
    with Passwords(env.postgres) as uri:
        good = run(env, "--check", "--db-uri", uri + " password=right")
        need(good.returncode == 0, f"with its password: {good}")
        nowhere = env.postgres.uri("nothing_here")
        nobody = env.postgres.uri("postgres").replace(f"user={env.postgres.user}", "user=nobody_here")
        for bad, reason in ((uri + " password=wrong", "the database refuses the password"),
                            (uri, "the database wants a password"),
                            (nobody, "the database refuses the role"),
                            (nowhere, "there is no such database")):
            check = run(env, "--check", "--db-uri", bad)
            need(check.returncode == 1 and check.stderr.startswith(f"sluice: {reason}: "), f"--check: {check}")
            need(check.stderr.count("\n") == 1 and "  " not in check.stderr, f"untidy: {check.stderr}")
            daemon = Daemon(env.binary, env.postgres, "postgres", {"db-uri": bad})
            try:
                wait_for(lambda daemon=daemon: "event=listening" in daemon.log(), 10, "it serves all the same")
                lines = [line for line in daemon.log().splitlines() if "start_without_model" in line]
                need(len(lines) == 1 and reason in lines[0], f"{bad}: {daemon.log()}")
                need("wrong" not in daemon.log(), "the log shows a password")
                need(get(daemon, "/").status == 503, "requests are answered 503")
            finally:
                daemon.stop()
                daemon.close()


def test_a_time_zone_that_is_none_is_named(env):
    uri = env.postgres.uri(env.database("CREATE TABLE t (id int PRIMARY KEY, at timestamp);"))
    for zone in ("Europe/Berlim", "UTC'; SELECT 1 --"):
        bad = run(env, "--check", "--db-uri", uri, "--timestamp-zone", zone)
        need(bad.returncode == 1 and f"no time zone '{zone}'" in bad.stderr, f"{bad}")
    good = run(env, "--check", "--db-uri", uri, "--timestamp-zone", "Asia/Kolkata")
    need(good.returncode == 0, f"{good}")
