"""$apply against a second opinion: random pipelines, computed once more here over plain lists."""
import random
from decimal import Decimal

from support import get, need

SEED = 20_251_118
PIPELINES = 400

REGIONS = [(1, "north"), (2, "south"), (3, None)]
SHOPS = [(1, 1, None), (2, 1, 1), (3, 2, 1), (4, 3, 2), (5, None, None), (6, 3, 4)]
PARENT = {shop: parent for shop, _, parent in SHOPS}
NODES = "$root/shops,parent,shop_id"


def above(shop):
    """The shop and those above it, the nearest first."""
    out = []
    while shop is not None:
        out.append(shop)
        shop = PARENT[shop]
    return out


def preorder(parent=None):
    return [n for shop in sorted(s for s, p in PARENT.items() if p == parent) for n in [shop] + preorder(shop)]


def make_data(rng):
    sales = []
    for i in range(1, 61):
        sales.append({
            "id": i,
            "shop_id": rng.choice([1, 2, 3, 4, 5, 6, None]),
            "kind": rng.choice(["a", "b", "c", None]),
            "qty": rng.choice([None, 0, 1, 2, 3, 5, 8, -4]),
            "price": rng.choice([None, Decimal("0.50"), Decimal("2.25"), Decimal("10.00")]),
        })
    items = [{"id": i, "sale_id": rng.randint(1, 40), "n": rng.choice([None, 1, 2, 7])} for i in range(1, 91)]
    return sales, items


def literal(value):
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def make_sql(sales, items):
    def rows(table, tuples):
        return f"INSERT INTO {table} VALUES " + ", ".join(
            "(" + ", ".join(literal(v) for v in t) + ")" for t in tuples) + ";\n"

    return ("CREATE TABLE regions (id int PRIMARY KEY, name text);\n"
            "CREATE TABLE shops (id int PRIMARY KEY, region_id int REFERENCES regions, parent_id int REFERENCES shops);\n"
            "CREATE TABLE sales (id int PRIMARY KEY, shop_id int REFERENCES shops, kind text, qty int, price numeric(9,2));\n"
            "CREATE TABLE items (id int PRIMARY KEY, sale_id int REFERENCES sales, n int);\n"
            + rows("regions", REGIONS) + rows("shops", SHOPS)
            + rows("sales", [tuple(s.values()) for s in sales]) + rows("items", [tuple(i.values()) for i in items]))


class Model:
    """Rows are dicts of paths; a sale also has its items and its shop under '#'."""

    def __init__(self, sales, items):
        self.rows = []
        shops = {shop: region for shop, region, _ in SHOPS}
        regions = dict(REGIONS)
        for s in sales:
            row = dict(s)
            region = shops.get(s["shop_id"])
            row["#"] = {"items": [i for i in items if i["sale_id"] == s["id"]], "shop": s["shop_id"],
                        "region": regions.get(region)}
            self.rows.append(row)


def value_of(row, path):
    if path == "shop/region/name":
        return row[path] if path in row else row["#"]["region"]
    return row.get(path)


def known(values):
    return [v for v in values if v is not None]


def aggregate(rows, aggs):
    out = {}
    for text, path, method, alias in aggs:
        if path == "$count":
            out[alias] = len(rows)
            continue
        if path == "items/$count":
            out[alias] = sum(len(r["#"]["items"]) for r in rows)
            continue
        if path == "shop/$count":
            out[alias] = len({r["#"]["shop"] for r in rows} - {None})
            continue
        if path == "items/n":
            values = known(i["n"] for r in rows for i in r["#"]["items"])
        elif path == "shop/id":
            values = list({r["#"]["shop"] for r in rows} - {None})
        elif path == "from":
            groups = {}
            for r in rows:
                groups.setdefault(r["kind"], []).append(r["qty"])
            values = known(sum(known(g)) if known(g) else None for g in groups.values())
        else:
            values = known(value_of(r, path) for r in rows)
        if method == "countdistinct":
            out[alias] = len(set(values))
        elif not values:
            out[alias] = None
        else:
            out[alias] = {"sum": sum, "min": min, "max": max,
                          "average": lambda v: Decimal(sum(v)) / len(v)}[method](values)
    return out


SALE_AGGS = [("qty with sum as", "qty", "sum"), ("price with min as", "price", "min"), ("kind with max as", "kind", "max"),
             ("qty with average as", "qty", "average"), ("kind with countdistinct as", "kind", "countdistinct"),
             ("$count as", "$count", None), ("items/n with sum as", "items/n", "sum"), ("items/n with max as", "items/n", "max"),
             ("items/$count as", "items/$count", None), ("shop/$count as", "shop/$count", None),
             ("shop/id with sum as", "shop/id", "sum"), ("shop/id with max as", "shop/id", "max"),
             ("shop/region/name with countdistinct as", "shop/region/name", "countdistinct"),
             ("qty with sum from kind with max as", "from", "max")]
KEYS = ["kind", "shop_id", "shop/region/name"]


class Pipeline:
    def __init__(self, rng, rows):
        self.rng = rng
        self.alias = 0
        self.text, self.rows = self.sequence(rows, True, 3)

    def aggs(self, choices):
        made = []
        for text, path, method in self.rng.sample(choices, self.rng.randint(1, min(3, len(choices)))):
            self.alias += 1
            made.append((f"{text} x{self.alias}", path, method, f"x{self.alias}"))
        return made

    def sequence(self, rows, sales, length):
        texts = []
        for _ in range(self.rng.randint(1, length)):
            if not sales:
                break
            text, rows, sales = self.step(rows, length)
            texts.append(text)
        return "/".join(texts), rows

    def group(self, rows, keys, aggs):
        groups = {}
        for r in rows:
            groups.setdefault(tuple(value_of(r, k) for k in keys), []).append(r)
        return [dict(zip(keys, key)) | aggregate(group, aggs) for key, group in groups.items()]

    def name(self):
        self.alias += 1
        return f"x{self.alias}"

    def related(self, rows):
        """ancestors, descendants, traverse."""
        k = self.rng.randint(1, 60)
        starts = {r["shop_id"] for r in rows if r["id"] <= k} - {None}
        far = self.rng.choice([None, 1, 2, 1000])
        keep = self.rng.random() < 0.5
        up = self.rng.random() < 0.5
        found = set(starts) if keep else set()
        for shop in PARENT:
            for start in starts:
                path = above(start) if up else above(shop)
                other = shop if up else start
                if other in path[1:] and (far is None or path.index(other) <= far):
                    found.add(shop)
        text = f"{'ancestors' if up else 'descendants'}({NODES},filter(id le {k})"
        text += (f",{far}" if far else "") + (",keep start" if keep else "") + ")"
        return text, [r for r in rows if r["shop_id"] in found], True

    def collected(self, rows):
        """Expressions about a collection, and rows inside of rows."""
        k = self.rng.randint(-3, 6)
        sums = {id(r): aggregate([r], [("", "items/n", "sum", "s")])["s"] for r in rows}
        kind = self.rng.choice(["path", "these", "count", "compute", "nested", "totals", "position"])
        if kind == "path":
            return f"filter(items/aggregate(n with sum) gt {k})", [
                r for r in rows if sums[id(r)] is not None and sums[id(r)] > k], True
        if kind == "these":
            most = max(known(r["qty"] for r in rows), default=None)
            return "filter(qty add 3 ge $these/aggregate(qty with max))", [
                r for r in rows if r["qty"] is not None and r["qty"] + 3 >= most], True
        if kind == "count":
            ranked = sorted(rows, key=lambda r: (r["qty"] is None, -(r["qty"] or 0)))
            return "topcount($these/$count div 2,qty)", ranked[:len(rows) // 2], True
        if kind == "position":
            shop = self.rng.choice(list(PARENT))
            call = f"HierarchyNodes=$root/shops,HierarchyQualifier='parent',Node=shop_id,Ancestor={shop}"
            return f"filter(Aggregation.isdescendant({call}))", [
                r for r in rows if r["shop_id"] is not None and shop in above(r["shop_id"])[1:]], True
        name = self.name()
        if kind == "compute":
            return f"compute(items/aggregate(n with sum) as {name})", [r | {name: sums[id(r)]} for r in rows], True
        if kind == "totals":
            return f"addnested(items,aggregate(n with sum as s) as {name})", [
                r | {name: [{"s": sums[id(r)]}]} for r in rows], True
        return f"addnested(items,filter(n gt {k}) as {name})", [
            r | {name: [i for i in r["#"]["items"] if i["n"] is not None and i["n"] > k]} for r in rows], True

    def step(self, rows, length):
        kind = self.rng.choice(["filter", "compute", "group", "group", "rollup", "aggregate", "topcount", "top", "concat",
                                "related", "related", "traverse", "recursive", "collected", "collected", "nest"])
        if kind == "related":
            return self.related(rows)
        if kind == "collected":
            return self.collected(rows)
        if kind == "traverse":
            order = preorder()
            placed = [r for r in rows if r["shop_id"] is not None]
            return f"traverse({NODES},preorder)", sorted(placed, key=lambda r: order.index(r["shop_id"])), True
        if kind == "recursive":
            aggs = self.aggs(SALE_AGGS)
            made = []
            for shop in PARENT:
                below = [r for r in rows if r["shop_id"] is not None and shop in above(r["shop_id"])]
                made.append({"shop_id": shop} | aggregate(below, aggs))
            texts = ",".join(a[0] for a in aggs)
            return f"groupby((rolluprecursive({NODES})),aggregate({texts}))", made, False
        if kind == "nest" and length == 3:
            name = self.name()
            text, inner = self.sequence(rows, True, length - 1)
            return f"nest({text} as {name})", [{name: inner}], False
        if kind == "filter":
            k = self.rng.randint(-2, 3)
            return f"filter(qty gt {k} or kind eq null)", [
                r for r in rows if (r["qty"] is not None and r["qty"] > k) or r["kind"] is None], True
        if kind == "compute":
            self.alias += 1
            name = f"x{self.alias}"
            return f"compute(qty mul 2 as {name})", [
                r | {name: None if r["qty"] is None else r["qty"] * 2} for r in rows], True
        if kind == "topcount":
            n = self.rng.randint(1, 20)
            ranked = sorted(rows, key=lambda r: (r["qty"] is None, -(r["qty"] or 0)))
            return f"topcount({n},qty)", ranked[:n], True
        if kind == "top":
            n, m = self.rng.randint(0, 5), self.rng.randint(1, 40)
            ranked = sorted(rows, key=lambda r: -r["id"])
            return f"orderby(id desc)/skip({n})/top({m})", ranked[n:n + m], True
        if kind == "concat" and length > 1:
            parts = [self.sequence(rows, True, length - 1) for _ in range(2)]
            return f"concat({parts[0][0]},{parts[1][0]})", parts[0][1] + parts[1][1], False
        aggs = self.aggs(SALE_AGGS)
        texts = ",".join(a[0] for a in aggs)
        if kind == "aggregate":
            return f"aggregate({texts})", [aggregate(rows, aggs)], False
        keys = self.rng.sample(KEYS, self.rng.randint(1, 3))
        if kind == "rollup" and len(keys) > 1:
            made = []
            for n in range(len(keys), 0, -1):
                made += self.group(rows, keys[:n], aggs)
            return f"groupby((rollup({','.join(keys)})),aggregate({texts}))", made, False
        return f"groupby(({','.join(keys)}),aggregate({texts}))", self.group(rows, keys, aggs), False


def normal(value):
    """Numbers that agree to twelve digits are the same: averages are rounded somewhere."""
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return f"{float(value):.12g}"
    return value


def flat(row, path=""):
    out = {}
    for name, value in row.items():
        if "@" in name or name == "#":
            continue
        if isinstance(value, list):
            out[path + name] = as_set(value)
        elif isinstance(value, dict):
            out |= flat(value, path + name + "/")
        else:
            out[path + name] = normal(value)
    return out


def as_set(rows):
    return sorted(repr(sorted(flat(r).items(), key=repr)) for r in rows)


def test_random_pipelines_agree(env):
    rng = random.Random(SEED)
    sales, items = make_data(rng)
    daemon = env.daemon(env.database(make_sql(sales, items)))
    model = Model(sales, items)
    for _ in range(PIPELINES):
        pipeline = Pipeline(rng, model.rows)
        target = "/sales?$apply=" + pipeline.text.replace(" ", "%20")
        response = get(daemon, target + "&$count=true")
        need(response.status == 200, f"{response.status} for {pipeline.text}: {response.body[:300]!r}")
        body = response.json()
        got, wanted = as_set(body["value"]), as_set(pipeline.rows)
        need(got == wanted, f"{pipeline.text}\n     got    {[r for r in got if r not in wanted][:4]}\n"
                            f"     wanted {[r for r in wanted if r not in got][:4]} of {len(wanted)}, got {len(got)}")
        need(body["@odata.count"] == len(wanted), f"{pipeline.text}: @odata.count {body['@odata.count']}")
        # The same in pages: nothing is lost and nothing comes twice.
        paged, link = [], target
        while link:
            page = get(daemon, link, [("Prefer", "maxpagesize=7")]).json()
            paged += page["value"]
            link = page.get("@odata.nextLink", "")
            link = link[link.find("/sales"):] if link else ""
        need(as_set(paged) == wanted, f"{pipeline.text}: pages differ")
