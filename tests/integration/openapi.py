"""/$openapi: a valid OpenAPI 3.1 document, and what it says is there answers."""
import json
import os
import re

import metadata
import npm
from support import get, need

CHECK = """
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
const found = [];
for (const name of process.argv.slice(2)) {
  const validator = new Validator();
  const result = await validator.validate(JSON.parse(readFileSync(name)));
  found.push(result.valid && validator.version === "3.1" ? "" : JSON.stringify(result.errors ?? validator.version));
}
console.log(JSON.stringify(found));
"""
NAMES = """
CREATE TABLE "Größe" ("Schlüssel" text PRIMARY KEY, "a b" int);
CREATE TABLE "lines" (order_id int, "when" date, PRIMARY KEY (order_id, "when"));
CREATE TYPE color AS ENUM ('red');
CREATE TABLE keyed (c color PRIMARY KEY, d interval, e bytea, f float8[], g color[], h uuid NOT NULL);
INSERT INTO "Größe" VALUES ('x');
INSERT INTO lines VALUES (1, '2024-01-01');
INSERT INTO keyed VALUES ('red', NULL, NULL, NULL, NULL, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11');
"""


def databases(env):
    return {**metadata.databases(env), "names": (NAMES, ["public"]), "empty": ("", ["public"])}


def serve(env, sql, schemas, **settings):
    return env.daemon(env.database(sql), {"schemas": schemas, **settings})


def references(value):
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_openapi_is_valid(env):
    npm.folder()
    names, paths = [], []
    for name, (sql, schemas) in databases(env).items():
        daemon = serve(env, sql, schemas)
        names.append(name)
        paths.append(os.path.join(daemon.folder, "openapi.json"))
        with open(paths[-1], "wb") as f:
            f.write(get(daemon, "/$openapi").body)
    paths.append(os.path.join(daemon.folder, "wrong.json"))
    with open(paths[-1], "w", encoding="utf-8") as f:
        json.dump({"openapi": "3.1.0", "info": {"title": "no version"}, "paths": {}}, f)
    *found, wrong = npm.run(CHECK, *paths)
    need(wrong, "the validator takes a wrong document")
    for name, errors in zip(names, found):
        need(not errors, f"{name}: {errors[:1500]}")



def test_openapi_says_what_answers(env):
    for name, (sql, schemas) in databases(env).items():
        daemon = serve(env, sql, schemas)
        response = get(daemon, "/$openapi")
        need(response.status == 200 and response.header("Content-Type") == "application/json", f"{name}: {response.status}")
        document = response.json()
        for reference in set(references(document)):
            target = document
            for part in reference.removeprefix("#/").split("/"):
                need(part in target, f"{name}: {reference} leads nowhere")
                target = target[part]
        operations = [item["get"]["operationId"] for item in document["paths"].values()]
        need(len(operations) == len(set(operations)), f"{name}: two operations have one name")
        sets = {s["url"] for s in get(daemon, "/").json()["value"]}
        need(sets == {p[1:] for p in document["paths"] if "(" not in p and "$" not in p}, f"{name}: sets {sets}")
        for path, item in document["paths"].items():
            if "{" not in path:
                target = path if path.endswith("$count") else path + "?$top=1"
                need(get(daemon, target).status == 200, f"{name}: {path} does not answer")
            elif not re.search(r"\)/", path):
                check_entity(daemon, name, path, item)


def check_entity(daemon, name, path, item):
    rows = get(daemon, path.split("(")[0] + "?$top=1").json()["value"]
    if not rows:
        return
    for parameter in item["parameters"]:
        value = str(rows[0][parameter["name"]]).replace("'", "''")
        path = path.replace("{" + parameter["name"] + "}", "".join(f"%{b:02X}" for b in value.encode()))
    response = get(daemon, path)
    need(response.status == 200, f"{name}: {path} answers {response.status}: {response.body[:200]!r}")


def test_openapi_has_an_etag_and_reads_only(env):
    daemon = serve(env, metadata.MIXED, ["public", "sales"], **{"base-path": "/odata"})
    response = get(daemon, "/$openapi")
    need(response.status == 200, f"{response.status}")
    tag = response.header("ETag")
    need(tag and get(daemon, "/%24openapi", [("If-None-Match", tag)]).status == 304, "no 304 for what the client has")
    need(get(daemon, "/$openapi", method="POST").status == 405, "POST")
    need(response.json()["servers"] == [{"url": "."}], "the server's address is not relative")
