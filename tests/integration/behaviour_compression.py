"""Content codings: what a client gets is what it would get without, and as soon."""
import gzip
import shutil
import subprocess
import zlib

from support import Failure, Skipped, Wire, get, need, parse_json, wait_for
from behaviour_streams import KEYS, BIG, nothing_is_busy, read_slowly

# docs/OPERATIONS.md: buffer-bytes and 128 KiB, and the coding's own memory.
READER_KIB = {"gzip": 256 + 128 + 384, "zstd": 256 + 128 + 1024}


def start(env, **more):
    return env.daemon(env.database(BIG), {"compression": True, **more}, entities=KEYS)


def decode(coding, body):
    if coding is None:
        return body
    if coding == "gzip":
        return gzip.decompress(body)
    if coding == "zstd":
        if not shutil.which("zstd"):
            raise Skipped("zstd is not installed")
        return subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout
    raise Failure(f"an unknown coding {coding}")


def test_a_coded_body_is_the_same_body(env):
    daemon = start(env)
    for target in ("/big?$top=20", "/big?$top=3000", "/big?$top=3000&$format=csv", "/big?$top=3000&$format=ndjson",
                   "/$metadata", "/$openapi", "/p", "/nothing", "/big/$count"):
        plain = get(daemon, target)
        need(plain.header("Content-Encoding") is None, f"{target} is coded for who did not ask")
        need("Accept-Encoding" in plain.header("Vary"), f"{target}: Vary {plain.header('Vary')}")
        for coding in ("gzip", "zstd"):
            coded = get(daemon, target, [("Accept-Encoding", coding)])
            found = coded.header("Content-Encoding")
            need(found == (coding if len(plain.body) >= 1024 else None), f"{target}: {len(plain.body)} bytes are {found}")
            need(coded.status == plain.status and decode(found, coded.body) == plain.body, f"{target}: another body")
            need(found is None or len(coded.body) < len(plain.body) / 2, f"{target}: {len(coded.body)} bytes")


def test_without_the_setting_nothing_is_coded(env):
    daemon = env.daemon(env.database(BIG), {}, entities=KEYS)
    answer = get(daemon, "/big?$top=20", [("Accept-Encoding", "gzip")])
    need(answer.header("Content-Encoding") is None and answer.json(), "coded")
    need("Accept-Encoding" not in answer.header("Vary"), answer.header("Vary"))


def test_head_and_304_say_what_get_would_say(env):
    daemon = start(env)
    for target in ("/$metadata", "/big?$top=20", "/big?$top=3000"):
        accept = [("Accept-Encoding", "gzip")]
        got = get(daemon, target, accept)
        head = get(daemon, target, accept, method="HEAD")
        need(head.header("Content-Encoding") == "gzip", f"HEAD {target}: {head.header('Content-Encoding')}")
        need(head.header("Content-Length") in (None, got.header("Content-Length")),
             f"HEAD {target}: {head.header('Content-Length')}, GET: {got.header('Content-Length')}")
    length = get(daemon, "/$metadata", accept).header("Content-Length")
    with Wire(daemon) as wire:
        etag = get(daemon, "/$metadata").header("ETag")
        for _ in range(2):
            wire.request("GET", "/$metadata", [("Accept-Encoding", "gzip"), ("If-None-Match", etag)])
            response = wire.response()
            need(response.status == 304 and response.header("Content-Length") == length,
                 f"{response.status} {response.header('Content-Length')}, 200 has {length}")


def test_the_first_rows_are_not_held_back(env):
    daemon = start(env)
    with Wire(daemon) as wire:
        wire.request("GET", "/drip", [("Accept-Encoding", "gzip")])
        _, status, headers = wire.head()
        need(status == 200 and ("Content-Encoding", "gzip") in headers, f"{status} {headers}")
        inflate = zlib.decompressobj(31)
        text = b""
        while b'"id":3,' not in text:
            size = int(wire.line(), 16)
            need(size > 0, "the stream of 100,000 slow rows has ended")
            text += inflate.decompress(wire.take(size))
            wire.take(2)
        need(text.count(b'"id"') < 50000, "half of the feed came before its first rows could be read")
    nothing_is_busy(env, daemon)


def test_a_broken_coded_body_is_seen(env):
    daemon = start(env)
    with Wire(daemon, receive_buffer=4096) as wire:
        wire.request("GET", "/big", [("Accept-Encoding", "gzip")])
        wire.head()
        wire.take(10000)
        backend = wait_for(lambda: env.postgres.busy(daemon.database), 5, "a backend streams")[0]
        env.postgres.sql("postgres", f"SELECT pg_terminate_backend({backend['pid']})")
        _, complete = wire.chunked()
        need(not complete, "the body ends as if it were whole")
    wait_for(lambda: get(daemon, "/p").status == 200, 10, "service again")


def test_a_slow_reader_of_a_coded_body_costs_constant_memory(env):
    daemon = start(env, workers=1)
    daemon.memory_can_be_judged()
    for coding in ("gzip", "zstd"):
        samples = []
        for _ in range(2):
            before = daemon.rss_kib()
            with Wire(daemon, receive_buffer=4096) as wire:
                wire.request("GET", "/big", [("Accept-Encoding", coding)])
                wire.head()
                for _ in range(6):
                    read_slowly(wire, 20_000, 0.3)
                    samples.append(daemon.rss_kib() - before)
            nothing_is_busy(env, daemon)
        growth = max(samples[6:])  # the first stream takes what all later ones use
        need(growth <= READER_KIB[coding], f"{coding}: RSS grew by {growth} KiB: {samples}")


def test_a_whole_coded_feed(env):
    daemon = start(env)
    for coding in ("gzip", "zstd"):
        answer = get(daemon, "/big?$top=200000", [("Accept-Encoding", coding)], timeout=60)
        rows = parse_json(decode(coding, answer.body))["value"]
        need(answer.complete and len(rows) == 200000 and rows[-1]["id"] == 200000, f"{coding}: {len(rows)} rows")
