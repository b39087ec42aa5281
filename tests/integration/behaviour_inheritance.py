"""Table inheritance against a second opinion: random trees of tables and requests, answered once more here over plain dicts."""
import json
import random
import urllib.parse

from support import get, need

SEED = 20_251_201
TREES = 4
REQUESTS = 60
VALUES = {
    "text": [None, "a", "b", "zebra", "it's", ""],
    "int": [None, -3, 0, 7, 12],
    "boolean": [None, True, False],
}
COMPARISONS = {"eq": lambda a, b: a == b, "gt": lambda a, b: a > b, "le": lambda a, b: a <= b}


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


class Tree:
    """Tables t0 (the root), t1, ...; columns are (name, type), those that are inherited first."""

    def __init__(self, rng):
        self.parents = [None] + [rng.randrange(i) for i in range(1, rng.randint(3, 9))]
        self.columns = []
        for parent in self.parents:
            columns = [("id", "int"), ("name", "text")] if parent is None else list(self.columns[parent])
            taken = {name for name, _ in columns}
            for name in rng.sample("abcdefgh", rng.randint(0, 4)):
                if name not in taken:
                    columns.append((name, rng.choice(list(VALUES))))
            self.columns.append(columns)
        self.rows = []
        for number in range(1, 41):
            table = rng.randrange(len(self.parents))
            row = {name: rng.choice(VALUES[kind]) for name, kind in self.columns[table]}
            self.rows.append((table, {**row, "id": number}))

    def sql(self):
        text = ""
        for i, parent in enumerate(self.parents):
            inherited = 0 if parent is None else len(self.columns[parent])
            own = ", ".join([f"{n} {k}" for n, k in self.columns[i][inherited:]] + ["PRIMARY KEY (id)"])
            text += f"CREATE TABLE t{i} ({own})" + (f" INHERITS (t{parent})" if parent is not None else "") + ";\n"
        for table, row in self.rows:
            text += f"INSERT INTO t{table} ({', '.join(row)}) VALUES ({', '.join(map(literal, row.values()))});\n"
        return text

    def is_a(self, table, base):
        while table is not None and table != base:
            table = self.parents[table]
        return table is not None

    def derived(self, base):
        return [i for i in range(len(self.parents)) if self.is_a(i, base)]


class Request:
    """A random request, and what must come of it."""

    def __init__(self, rng, tree):
        self.rng = rng
        self.tree = tree
        entity_set = rng.randrange(len(tree.parents))
        self.declared = rng.choice(tree.derived(entity_set)) if rng.random() < 0.4 else entity_set
        self.path = f"/t{entity_set}" + (f"/public.t{self.declared}" if self.declared != entity_set else "")
        condition, holds = self.condition(2)
        self.order = [self.property() + (rng.random() < 0.5,) for _ in range(rng.randint(0, 2))]
        self.selected = None if rng.random() < 0.5 else [self.property() for _ in range(rng.randint(1, 4))]
        options = {"$orderby": ",".join([text + (" desc" if down else "") for text, _, down in self.order] + ["id"])}
        if condition:
            options["$filter"] = condition
        if self.selected:
            options["$select"] = ",".join(["id", *dict.fromkeys(text for text, _ in self.selected)])
        self.target = self.path + "?" + urllib.parse.urlencode(options, quote_via=urllib.parse.quote, safe="$/,()'")
        self.rows = [r for r in tree.rows if tree.is_a(r[0], self.declared) and holds(r)]

    def property(self):
        """`name`, or `public.tN/name`; and how a row has it: None when it is of another type."""
        table = self.rng.choice(self.tree.derived(self.declared))
        name, _ = self.rng.choice(self.tree.columns[table])
        if any(name == n for n, _ in self.tree.columns[self.declared]):
            if self.rng.random() < 0.6:
                return name, lambda r: (True, r[1][name])
        elif table == self.declared:
            return name, lambda r: (True, r[1][name])
        return f"public.t{table}/{name}", lambda r: (True, r[1][name]) if self.tree.is_a(r[0], table) else (False, None)

    def condition(self, depth):
        kind = self.rng.randrange(5 if depth else 3)
        if kind == 0:
            table = self.rng.choice(self.tree.derived(self.declared))
            return f"isof(public.t{table})", lambda r: self.tree.is_a(r[0], table)
        if kind in (1, 2):
            text, read = self.property()
            own = [r for r in self.tree.rows if self.tree.is_a(r[0], self.declared)]
            values = [v for v in (read(r)[1] for r in own) if v is not None]
            value = self.rng.choice(values) if values else None
            if value is None:
                return f"{text} eq null", lambda r: read(r)[1] is None
            op = "eq" if isinstance(value, bool) else self.rng.choice(list(COMPARISONS))
            return (f"{text} {op} {literal(value)}",
                    lambda r: read(r)[1] is not None and COMPARISONS[op](read(r)[1], value))
        left, holds_left = self.condition(depth - 1)
        right, holds_right = self.condition(depth - 1)
        if kind == 3:
            return f"not ({left}) or ({right})", lambda r: not holds_left(r) or holds_right(r)
        return f"({left}) and ({right})", lambda r: holds_left(r) and holds_right(r)

    def expected(self):
        rows = sorted(self.rows, key=lambda r: r[1]["id"])
        for _, read, down in reversed(self.order):  # nulls come first, and last in descending order
            rows.sort(key=lambda r, read=read: (read(r)[1] is not None, read(r)[1] if read(r)[1] is not None else 0), reverse=down)
        return [self.entity(r) for r in rows]

    def entity(self, r):
        entity = {} if r[0] == self.declared else {"@odata.type": f"#public.t{r[0]}"}
        if self.selected is None:
            return {**entity, **r[1]}
        entity["id"] = r[1]["id"]
        for text, read in self.selected:
            there, value = read(r)
            if there:
                entity[text.rsplit("/", 1)[-1]] = value
        return entity


def without_repetition(pairs):
    names = [name for name, _ in pairs]
    need(len(names) == len(set(names)), f"an object has a member twice: {names}")
    return dict(pairs)


def read_pages(daemon, target, headers):
    rows = []
    while target:
        response = get(daemon, target, headers)
        need(response.status == 200, f"{target}: status {response.status}: {response.body[:300]!r}")
        page = json.loads(response.body, object_pairs_hook=without_repetition)
        rows += page["value"]
        link = page.get("@odata.nextLink")
        parts = urllib.parse.urlsplit(link) if link else None
        target = parts.path + "?" + parts.query if parts else None
    return rows


def test_random_trees_agree(env):
    rng = random.Random(SEED)
    for _ in range(TREES):
        tree = Tree(rng)
        daemon = env.daemon(env.database(tree.sql()))
        for _ in range(REQUESTS):
            request = Request(rng, tree)
            expected = request.expected()
            headers = [("Prefer", "maxpagesize=3")] if rng.random() < 0.4 else []
            found = read_pages(daemon, request.target, headers)
            need(found == expected, f"{request.target}\n{tree.sql()}found    {found}\nexpected {expected}")
            one = rng.choice(request.rows) if request.rows else None
            if one is not None:
                row = read_one(daemon, f"{request.path}({one[1]['id']})")
                need(row == {**({} if one[0] == request.declared else {"@odata.type": f"#public.t{one[0]}"}), **one[1]},
                     f"{request.path}({one[1]['id']}): {row}, expected {one}")


def read_one(daemon, target):
    response = get(daemon, target)
    need(response.status == 200, f"{target}: status {response.status}: {response.body[:300]!r}")
    entity = json.loads(response.body, object_pairs_hook=without_repetition)
    del entity["@odata.context"]
    return entity
