"""$metadata is valid: by the OASIS schemas where a copy of them is, and by our own reading of them.

XML and JSON say the same: both are reduced to one plain structure, and compared.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import npm
from support import HERE, Skipped, get, need

EDM = "{http://docs.oasis-open.org/odata/ns/edm}"
EDMX = "{http://docs.oasis-open.org/odata/ns/edmx}"
IDENTIFIER = re.compile(r"^[^\W\d]\w{0,127}$")
PRIMITIVE = {"Edm." + n for n in (
    "Binary Boolean Byte Date DateTimeOffset Decimal Double Duration Guid Int16 Int32 Int64 SByte Single Stream String"
    " TimeOfDay Untyped GeographyPoint GeometryPoint Geography Geometry").split()}
CHILDREN = {  # CSDL XML: what may stand in what
    "EntityType": ["Key", "Property", "NavigationProperty", "Annotation"],
    "ComplexType": ["Property", "NavigationProperty", "Annotation"],
    "EnumType": ["Member", "Annotation"],
    "EntityContainer": ["EntitySet", "Singleton", "ActionImport", "FunctionImport", "Annotation"],
}
MIXED = """
CREATE SCHEMA sales;
CREATE TYPE color AS ENUM ('red', 'green');
CREATE TYPE place AS (street text, zip varchar(10));
CREATE DOMAIN email AS text;
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL UNIQUE, mail email, home place, likes color, tags text[],
    more jsonb, price numeric(10,2), free numeric, born date, at timestamptz, ids int[], colors color[]);
COMMENT ON TABLE customers IS 'Who buys <here> & "there"';
COMMENT ON COLUMN customers.name IS 'Full name';
CREATE TABLE sales.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer_id int NOT NULL REFERENCES customers,
    billed_id int REFERENCES customers, twice int GENERATED ALWAYS AS (2) STORED);
CREATE TABLE sales.lines (order_id bigint REFERENCES sales.orders, line int, PRIMARY KEY (order_id, line));
CREATE TABLE tags (id int PRIMARY KEY);
CREATE TABLE customer_tags (customer_id int REFERENCES customers, tag_id int REFERENCES tags, PRIMARY KEY (customer_id, tag_id));
CREATE TABLE boss (id int PRIMARY KEY, boss_id int REFERENCES boss);
CREATE TABLE "odd name" ("1 st" int PRIMARY KEY, "a-b" text, "a b" text);
CREATE VIEW seen AS SELECT id, name FROM customers;
CREATE TABLE animals (id int PRIMARY KEY, owner_id int REFERENCES customers, owner int);
CREATE TABLE sales.dogs (breed text, vet_id int REFERENCES customers, PRIMARY KEY (id)) INHERITS (animals);
CREATE TABLE puppies ("the toy" text, "the-toy" text) INHERITS (sales.dogs);
CREATE TABLE cats (breed int) INHERITS (animals);
CREATE TABLE vaccinations (id int PRIMARY KEY, dog_id int REFERENCES sales.dogs);
"""


def local(element):
    return element.tag.rsplit("}", 1)[1]


def check_names(schema):
    for element in schema.iter():
        name = element.get("Name")
        if name is not None:
            need(IDENTIFIER.match(name), f"{local(element)} Name={name!r} is no SimpleIdentifier")
    for parent in schema.iter():
        names = [c.get("Name") for c in parent if c.get("Name") is not None]
        need(len(names) == len(set(names)), f"names in {local(parent)} {parent.get('Name')} are not unique: {names}")


def check_children(schema):
    for kind, allowed in CHILDREN.items():
        for element in schema.iter(EDM + kind):
            found = [local(c) for c in element]
            need(set(found) <= set(allowed), f"{kind} {element.get('Name')} has children {set(found) - set(allowed)}")
            need("Key" not in found[1:], f"{kind} {element.get('Name')} has its key behind {found[0]}")


def check_types(types, schema):
    for element in schema.iter():
        kind = element.get("Type")
        if kind is None or local(element) == "Annotation":
            continue
        kind = re.sub(r"^Collection\((.*)\)$", r"\1", kind)
        need(kind in PRIMITIVE or kind in types, f"{local(element)} {element.get('Name')}: type {kind} does not exist")


def bases(types, entity):
    """The type and those that it is derived from."""
    while entity is not None:
        yield entity
        entity = types[entity.get("BaseType")] if entity.get("BaseType") else None


def members(types, entity, kind):
    return [m.get("Name") for each in bases(types, entity) for m in each.iter(EDM + kind)]


def check_navigation(types, sets, schema):
    for entity in schema.iter(EDM + "EntityType"):
        properties = set(members(types, entity, "Property"))
        names = members(types, entity, "Property") + members(types, entity, "NavigationProperty")
        need(len(names) == len(set(names)), f"{entity.get('Name')} has or inherits a name twice: {sorted(names)}")
        keys = members(types, entity, "PropertyRef")
        need(keys, f"{entity.get('Name')} has no key")
        need(not entity.get("BaseType") or entity.find(EDM + "Key") is None, f"{entity.get('Name')} has a base and a key")
        need(set(keys) <= properties, f"the key of {entity.get('Name')} names {keys}")
        for nav in entity.iter(EDM + "NavigationProperty"):
            target = types[re.sub(r"^Collection\((.*)\)$", r"\1", nav.get("Type"))]
            partner = nav.get("Partner")
            if partner:
                need(partner in members(types, target, "NavigationProperty"), f"{nav.get('Name')}: its partner {partner} does not exist")
            for pair in nav.iter(EDM + "ReferentialConstraint"):
                need(pair.get("Property") in properties, f"{nav.get('Name')}: constraint on {pair.get('Property')}")
                need(pair.get("ReferencedProperty") in members(types, target, "Property"),
                     f"{nav.get('Name')}: constraint to {pair.get('ReferencedProperty')}")
    for binding in schema.iter(EDM + "NavigationPropertyBinding"):
        need(binding.get("Target") in sets, f"a binding to {binding.get('Target')}, which does not exist")


def check_document(text):
    root = ElementTree.fromstring(text)
    need(root.tag == EDMX + "Edmx" and root.get("Version") in ("4.0", "4.01"), f"root {root.tag} {root.get('Version')}")
    schemas = list(root.iter(EDM + "Schema"))
    need(schemas, "no schema")
    aliases = {a for i in root.iter(EDMX + "Include") for a in (i.get("Alias"), i.get("Namespace"))}
    types, sets = {}, set()
    for schema in schemas:
        for kind in ("EntityType", "ComplexType", "EnumType", "TypeDefinition"):
            for element in schema.iter(EDM + kind):
                for prefix in {schema.get("Namespace"), schema.get("Alias") or schema.get("Namespace")}:
                    types[f"{prefix}.{element.get('Name')}"] = element
        sets |= {s.get("Name") for s in schema.iter(EDM + "EntitySet")}
        for entity_set in schema.iter(EDM + "EntitySet"):
            need(entity_set.get("EntityType"), f"set {entity_set.get('Name')} has no type")
    for schema in schemas:
        check_names(schema)
        check_children(schema)
        check_types(types, schema)
        check_navigation(types, sets, schema)
        for entity_set in schema.iter(EDM + "EntitySet"):
            need(entity_set.get("EntityType") in types, f"set of {entity_set.get('EntityType')}")
        for annotation in schema.iter(EDM + "Annotation"):
            need(annotation.get("Term").rsplit(".", 1)[0] in aliases, f"{annotation.get('Term')}: its vocabulary is not referenced")
    return sets


def metadata(env, sql, schemas):
    daemon = env.daemon(env.database(sql), {"schemas": schemas})
    response = get(daemon, "/$metadata")
    need(response.status == 200, f"status {response.status}: {response.body[:300]!r}")
    return daemon, response.body


def test_every_kind_of_table_is_published_validly(env):
    daemon, text = metadata(env, MIXED, ["public", "sales"])
    sets = check_document(text)
    need({"customers", "orders", "lines", "boss", "odd_name", "seen", "animals", "dogs", "puppies", "cats"} <= sets, f"sets {sets}")
    for name in sets:
        response = get(daemon, f"/{name}?$top=1")
        need(response.status == 200, f"{name} is published, but answers {response.status}: {response.body[:200]!r}")
    document = get(daemon, "/").json()
    need({s["name"] for s in document["value"]} == sets, "service document and $metadata differ")


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def databases(env):
    """What to publish for a look at all of it: name -> (SQL, schemas)."""
    demo = "".join(map(read_text, sorted(glob.glob(os.path.join(HERE, "../../loadtest/demo/*.sql")))))
    found = {"mixed": (MIXED, ["public", "sales"]), "demo": (demo, re.findall(r"CREATE SCHEMA (\w+)", demo) or ["public"])}
    corpus = os.path.join(env.shared or "", "corpus", "behaviour", "schema.sql")
    if os.path.exists(corpus):
        found["corpus"] = (read_text(corpus), ["shop"])
    return found


def test_against_the_oasis_schemas(env):
    schema = os.path.join(env.shared, "schemas", "edmx.xsd")
    if not env.shared or not os.path.exists(schema):
        raise Skipped(f"no OASIS schemas in {env.shared or 'any folder'}")
    if not shutil.which("xmllint"):
        raise Skipped("xmllint is not installed")
    for name, (sql, schemas) in databases(env).items():
        daemon, text = metadata(env, sql, schemas)
        path = os.path.join(daemon.folder, name + ".xml")
        with open(path, "wb") as f:
            f.write(text)
        done = subprocess.run(["xmllint", "--nonet", "--noout", "--schema", schema, path], capture_output=True, text=True, check=False)
        need(done.returncode == 0, f"{name}: {done.stderr[:1500]}")
        check_document(text)


def xml_value(element):
    """The value of an annotation or of a record's member, as CSDL JSON has it."""
    for kind, read in (("Bool", lambda t: t == "true"), ("String", str), ("PropertyPath", str), ("NavigationPropertyPath", str), ("Int", int), ("EnumMember", str)):
        if element.get(kind) is not None:
            return read(element.get(kind))
        if local(element) == kind:
            return read(element.text or "")
    for child in element:
        if local(child) == "Collection":
            return [xml_value(c) for c in child]
        if local(child) == "Record":
            return xml_value(child)
    return {p.get("Property"): xml_value(p) for p in element if local(p) == "PropertyValue"}


def xml_annotations(element):
    return {"@" + a.get("Term") + ("#" + a.get("Qualifier") if a.get("Qualifier") else ""): xml_value(a) for a in element if local(a) == "Annotation"}


def xml_member(element):
    kind = element.get("Type")
    collection = kind.startswith("Collection(")
    found = xml_annotations(element)
    found["$Type"] = kind[11:-1] if collection else kind
    found["$Collection"] = collection
    for facet in ("MaxLength", "Precision", "Partner"):
        if element.get(facet) is not None:
            found["$" + facet] = element.get(facet)
    if kind == "Edm.Decimal" or element.get("Scale") is not None:
        found["$Scale"] = element.get("Scale", "0")
    if local(element) == "NavigationProperty":
        found["$Kind"] = "NavigationProperty"
        found["$ReferentialConstraint"] = {c.get("Property"): c.get("ReferencedProperty") for c in element.iter(EDM + "ReferentialConstraint")}
    if local(element) != "NavigationProperty" or not collection:
        found["$Nullable"] = element.get("Nullable", "true") == "true"
    return found


def xml_structure(text):
    """The document as CSDL JSON would have it, with every default written out."""
    root = ElementTree.fromstring(text)
    out = {"$Version": root.get("Version")}
    for schema in root.iter(EDM + "Schema"):
        found = out[schema.get("Namespace")] = xml_annotations(schema)
        for element in schema:
            if local(element) == "Annotation":
                continue
            item = found[element.get("Name")] = xml_annotations(element)
            item["$Kind"] = local(element)
            if element.get("BaseType"):
                item["$BaseType"] = element.get("BaseType")
            for child in element:
                kind = local(child)
                if kind == "Key":
                    item["$Key"] = [r.get("Name") for r in child]
                elif kind == "Member":
                    item[child.get("Name")] = child.get("Value")
                elif kind in ("Property", "NavigationProperty"):
                    item[child.get("Name")] = xml_member(child)
                elif kind == "EntitySet":
                    entry = item[child.get("Name")] = xml_annotations(child)
                    entry["$Type"] = child.get("EntityType")
                    entry["$NavigationPropertyBinding"] = {b.get("Path"): b.get("Target") for b in child.iter(EDM + "NavigationPropertyBinding")}
    return out


def json_member(member):
    found = {k: str(v) if k in ("$MaxLength", "$Precision", "$Scale") else v for k, v in member.items()}
    found.setdefault("$Type", "Edm.String")
    found.setdefault("$Collection", False)
    if found["$Type"] == "Edm.Decimal":
        found.setdefault("$Scale", "variable")
    if member.get("$Kind") == "NavigationProperty":
        found.setdefault("$ReferentialConstraint", {})
    if member.get("$Kind") != "NavigationProperty" or not found["$Collection"]:
        found.setdefault("$Nullable", False)
    return found


def json_structure(document):
    out = {"$Version": document["$Version"]}
    for namespace, schema in document.items():
        if namespace.startswith("$"):
            continue
        found = out[namespace] = {}
        for name, item in schema.items():
            if name.startswith("@"):
                found[name] = item
                continue
            kind = item["$Kind"]
            entry = found[name] = {}
            for member, value in item.items():
                if member.startswith(("$", "@")):
                    entry[member] = value
                elif kind == "EnumType":
                    entry[member] = str(value)
                elif kind == "EntityContainer":
                    need(value.get("$Collection") is True, f"{member} is no set")
                    entry[member] = {"$NavigationPropertyBinding": {}, **{k: v for k, v in value.items() if k != "$Collection"}}
                else:
                    entry[member] = json_member(value)
    return out


def test_json_says_what_xml_says(env):
    for name, (sql, schemas) in databases(env).items():
        daemon = env.daemon(env.database(sql), {"schemas": schemas})
        for version in ("4.0", "4.01"):
            headers = [("OData-MaxVersion", version)]
            xml = get(daemon, "/$metadata", headers + [("Accept", "application/xml")])
            text = get(daemon, "/$metadata", headers + [("Accept", "application/json")])
            need(text.status == 200, f"{name} as JSON: {text.status}")
            need(text.header("Content-Type") == "application/json", f"Content-Type {text.header('Content-Type')}")
            need(xml.header("ETag") != text.header("ETag"), "XML and JSON have one ETag")
            document = text.json()
            need(document["$Version"] == version, f"$Version {document['$Version']}")
            left, right = xml_structure(xml.body), json_structure(document)
            need(left == right, f"{name} {version}: XML and JSON differ: {difference(left, right)}")


def difference(left, right, path=""):
    if isinstance(left, dict) and isinstance(right, dict):
        for key in list(left) + list(right):
            if left.get(key) != right.get(key):
                return difference(left.get(key), right.get(key), f"{path}/{key}")
    return f"{path}: {left!r} and {right!r}"


CSDL_CHECK = """
import { readFileSync } from "node:fs";
import Ajv from "ajv";
const [schema, ...texts] = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name)));
const check = new Ajv({ strict: false, allErrors: false }).compile(schema);
console.log(JSON.stringify(texts.map((t) => (check(t) ? "" : JSON.stringify(check.errors)))));
"""


def test_json_against_the_oasis_schema(env):
    schema = os.path.join(env.shared or "", "schemas", "csdl.schema.json")
    if not env.shared or not os.path.exists(schema):
        raise Skipped(f"no OASIS schemas in {env.shared or 'any folder'}")
    npm.folder()
    names, paths = [], []
    for name, (sql, schemas) in databases(env).items():
        daemon = env.daemon(env.database(sql), {"schemas": schemas})
        for version in ("4.0", "4.01"):
            response = get(daemon, "/$metadata?$format=json", [("OData-MaxVersion", version)])
            paths.append(os.path.join(daemon.folder, f"{name}-{version}.json"))
            names.append(f"{name} {version}")
            with open(paths[-1], "wb") as f:
                f.write(response.body)
    # A validator that finds nothing wrong with this would find nothing at all.
    paths.append(os.path.join(daemon.folder, "wrong.json"))
    with open(paths[-1], "w", encoding="utf-8") as f:
        json.dump({"$Version": "4.01", "ns": {"T": {"$Kind": "EntityType", "p": {"$Nullable": "yes"}}}}, f)
    *found, wrong = npm.run(CSDL_CHECK, os.path.abspath(schema), *paths)
    need(wrong, "the validator takes a wrong document")
    for name, errors in zip(names, found):
        need(not errors, f"{name}: {errors[:1500]}")
