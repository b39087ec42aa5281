"""Cases: text files that say what is in the database, what is asked, and what must come back.

A case is cases/<feature>/<sentence>.http. Its first lines, up to the first `---`, are for the
reader. Then come sections:

    --- sql                 run in a new database before the daemon starts
    --- fixture NAME        the same with fixtures/NAME.sql; several are possible
    --- database TEXT       ALTER DATABASE ... TEXT, for example SET TimeZone = 'Asia/Kolkata'
    --- config              members of the JSON file, "entities" included
    --- environment         NAME=value lines for the daemon
    --- request             METHOD TARGET, then header lines, then after an empty line the body;
                            blanks of the target are sent as %20, everything else as it stands
    --- next                GET the @odata.nextLink of the response before
    --- nested next PLACE   the same of an expanded collection: `value 1 Items` for value[1].Items
    --- sql again           SQL between two requests
    --- response            what must come back for the request above it, a line each:

    200                     the status; 400|501 allows two
    Name: value             this header with this value; * at the end allows more, * alone anything
    !Name                   this header must not be there
    {...}                   the rest is JSON to compare (see matches())
    = text                  the whole body
    ~ regex                 somewhere in the body
    !~ regex                nowhere in the body
    ids 1 2 3               value[*].id, in this order
    all ids 1 2 3           the same over all pages, following the next links
    broken                  the body breaks off before its end

In targets and headers {root} is the service root, {etag} the ETag of the response before.
Cases with the same database and configuration share one daemon, so a case does not change data
unless it brings its own SQL.
"""
import json
import os
import re
import urllib.parse

from support import Failure, HERE, check_error_body, get, need, parse_json

SECTION = re.compile(r"^--- (nested next|[a-z]+(?: again)?)(?: (.*))?$")


class Step:
    def __init__(self, kind, lines):
        self.kind = kind  # request, next, sql
        self.lines = lines
        self.expected = []


class Case:
    def __init__(self, path):
        self.path = path
        self.name = os.path.relpath(path, os.path.join(HERE, "cases"))[:-5]
        self.sql = ""
        self.settings = ""
        self.config = {}
        self.environment = {}
        self.steps = []
        with open(path, encoding="utf-8") as f:
            self.read(f.read().split("\n"))
        need(self.steps, f"{path}: no request")

    def key(self):
        """Cases with the same key can share a daemon."""
        changes = any(s.kind == "sql" for s in self.steps)
        return (self.sql, self.settings, json.dumps(self.config, sort_keys=True),
                json.dumps(self.environment, sort_keys=True), self.path if changes else "")

    def read(self, lines):
        kind, words, body = None, None, []
        for line in [*lines, "--- end"]:
            found = SECTION.match(line)
            if not found:
                body.append(line)
                continue
            if kind is not None:
                self.section(kind, words, body)
            kind, words, body = found.group(1), found.group(2), []

    def section(self, kind, words, body):
        text = "\n".join(body).strip()
        if kind == "sql":
            self.sql += text + "\n"
        elif kind == "fixture":
            with open(os.path.join(HERE, "fixtures", words + ".sql"), encoding="utf-8") as f:
                self.sql += f.read()
        elif kind == "database":
            self.settings = words
        elif kind == "config":
            self.config.update(json.loads(text))
        elif kind == "environment":
            self.environment.update(line.split("=", 1) for line in text.splitlines())
        elif kind == "nested next":
            self.steps.append(Step(kind, words.split()))
        elif kind in ("request", "next", "sql again"):
            self.steps.append(Step(kind.split(" ", maxsplit=1)[0], body))
        elif kind == "response":
            need(self.steps and self.steps[-1].kind != "sql", f"{self.path}: a response without a request")
            self.steps[-1].expected.append(body)
        else:
            raise Failure(f"{self.path}: unknown section {kind}")


def matches(expected, found, where="body"):
    """
    Fails where found is not what was expected: members of objects that are not named may be there,
    arrays have the same length and order, numbers compare by value. A string "~regex" stands for a
    string that matches, "*" for anything, "!" for a member that must not be there.
    """
    if expected == "*":
        return
    if isinstance(expected, str) and expected.startswith("~"):
        need(isinstance(found, str) and re.search(expected[1:], found), f"{where} is {found!r}, expected {expected}")
    elif isinstance(expected, dict):
        need(isinstance(found, dict), f"{where} is {found!r}, expected an object")
        for name, value in expected.items():
            if value == "!":
                need(name not in found, f"{where}.{name} should not be there")
                continue
            need(name in found, f"{where}.{name} is missing; there are {list(found)}")
            matches(value, found[name], f"{where}.{name}")
    elif isinstance(expected, list):
        need(isinstance(found, list), f"{where} is {found!r}, expected an array")
        need(len(found) == len(expected), f"{where} has {len(found)} items, expected {len(expected)}: {str(found)[:200]}")
        for i, (e, f) in enumerate(zip(expected, found)):
            matches(e, f, f"{where}[{i}]")
    else:
        same = type(expected) is type(found) and expected == found
        need(same, f"{where} is {found!r}, expected {expected!r}")


def next_link(response):
    body = response.json()
    return body.get("@odata.nextLink", body.get("@nextLink"))


def nested_link(response, place):
    found = response.json()
    for name in place[:-1]:
        found = found[int(name) if name.isdigit() else name]
    return found.get(place[-1] + "@odata.nextLink", found.get(place[-1] + "@nextLink"))


def target_of(daemon, url):
    parts = urllib.parse.urlsplit(url)
    return parts.path + ("?" + parts.query if parts.query else "")


def ids(response):
    need(response.status == 200, f"status {response.status}, expected rows: {response.body[:300]!r}")
    return [str(row.get("id")) for row in response.json()["value"]]


def all_ids(daemon, response, headers):
    found, seen = ids(response), set()
    link = next_link(response)
    while link:
        need(link not in seen and len(seen) < 1000, "the next links do not end")
        seen.add(link)
        response = get(daemon, target_of(daemon, link), headers, root="")
        need(response.status == 200, f"a next link answers {response.status}: {response.body[:200]!r}")
        found += ids(response)
        link = next_link(response)
    return found


def check_line(daemon, line, response, headers):
    word, _, rest = line.partition(" ")
    if re.fullmatch(r"\d{3}(\|\d{3})*", line):
        need(str(response.status) in line.split("|"),
             f"status {response.status}, expected {line}: {response.body[:300]!r}")
    elif word == "ids":
        need(ids(response) == rest.split(), f"ids {ids(response)}, expected {rest}")
    elif line.startswith("all ids"):
        found = all_ids(daemon, response, headers)
        need(found == line.split()[2:], f"ids over all pages {found}, expected {line.split()[2:]}")
    elif word == "=":
        need(response.text() == rest, f"body {response.body[:200]!r}, expected {rest!r}")
    elif word == "~":
        need(re.search(rest, response.text()), f"nothing matches {rest}: {response.body[:300]!r}")
    elif word == "!~":
        need(not re.search(rest, response.text()), f"something matches {rest}: {response.body[:300]!r}")
    elif line == "broken":
        need(not response.complete, "the body is complete")
    elif line.startswith("!"):
        need(response.header(line[1:]) is None, f"header {line[1:]} is {response.header(line[1:])!r}")
    elif re.match(r"[A-Za-z-]+:", line):
        name, value = (part.strip() for part in line.split(":", 1))
        value = value.replace("{root}", daemon.root)
        found = response.header(name)
        good = found is not None and (found.startswith(value[:-1]) if value.endswith("*") else found == value)
        need(good, f"header {name} is {found!r}, expected {value!r}")
    else:
        raise Failure(f"a line that says nothing: {line}")


def check_response(daemon, lines, response, headers):
    if "broken" not in lines:
        need(response.complete, f"the body breaks off: {response.body[-100:]!r}")
    while lines:
        line = lines[0].strip()
        if line.startswith(("{", "[")):
            text = "\n".join(lines).replace("{root}", daemon.root)
            matches(parse_json(text.encode("utf-8")), response.json())
            break
        if line:
            check_line(daemon, line, response, headers)
        lines = lines[1:]
    if response.status >= 400 and response.body:
        check_error_body(response)


def parse_request(daemon, lines, before):
    def fill(text):
        text = text.replace("{root}", daemon.root)
        return text.replace("{etag}", (before.header("ETag") or "") if before else "")
    first, *rest = lines
    method, target = fill(first).split(" ", 1)
    headers = []
    while rest and rest[0].strip():
        name, value = rest.pop(0).split(":", 1)
        headers.append((name.strip(), fill(value.strip())))
    body = "\n".join(rest[1:]).strip().encode("utf-8")
    return method, target.strip().replace(" ", "%20"), headers, body


def run_case(case, daemon, postgres):
    before, headers = None, []
    for step in case.steps:
        if step.kind == "sql":
            postgres.sql(daemon.database, "\n".join(step.lines))
            continue
        if step.kind.endswith("next"):
            link = next_link(before) if step.kind == "next" else nested_link(before, step.lines)
            need(link, f"no next link: {before.body[:200]!r}")
            before = get(daemon, target_of(daemon, link), headers, root="")
        else:
            method, target, headers, body = parse_request(daemon, step.lines, before)
            before = get(daemon, target, headers, method, body)
        need(step.expected, "a request without a response to expect")
        for lines in step.expected:
            check_response(daemon, list(lines), before, headers)
