"""PostGIS: geometry and geography as GeoJSON. Skipped where PostGIS is not installed."""
from support import Skipped, get, need

SQL = """
CREATE SCHEMA gis;
CREATE EXTENSION postgis SCHEMA gis;
CREATE TABLE place (id int PRIMARY KEY, at gis.geometry(Point, 4326), path gis.geography(LineString), area gis.geometry);
INSERT INTO place VALUES
    (1, gis.st_setsrid(gis.st_makepoint(13.4, 52.5), 4326), gis.st_geogfromtext('LINESTRING(0 0, 1 1)'),
     gis.st_geomfromtext('POLYGON((0 0, 4 0, 4 4, 0 0))')),
    (2, NULL, NULL, NULL);
CREATE TABLE visit (id int PRIMARY KEY, place_id int REFERENCES place);
INSERT INTO visit VALUES (7, 1);
"""
POINT = {"type": "Point", "coordinates": [13.4, 52.5]}


def start(env):
    if env.postgres.sql("postgres", "SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'") != "1":
        raise Skipped("PostGIS is not installed (apt-get install postgresql-15-postgis-3)")
    return env.daemon(env.database(SQL))


def test_geometry_and_geography_are_geojson(env):
    daemon = start(env)
    first, second = get(daemon, "/place?$orderby=id").json()["value"]
    need(first["at"]["type"] == "Point" and [float(c) for c in first["at"]["coordinates"]] == POINT["coordinates"],
         f"a point of a geometry: {first}")
    need(first["path"]["type"] == "LineString" and len(first["path"]["coordinates"]) == 2, f"a geography: {first}")
    need(first["area"]["type"] == "Polygon" and len(first["area"]["coordinates"][0]) == 4, f"a polygon: {first}")
    need(second["at"] is None and second["path"] is None and second["area"] is None, f"null: {second}")
    need(get(daemon, "/place(1)/at").json()["value"]["type"] == "Point", "a single property")
    expanded = get(daemon, "/visit(7)?$expand=place($select=at)").json()
    need(expanded["place"]["at"]["type"] == "Point", f"expanded: {expanded}")
    metadata = get(daemon, "/$metadata").body.decode()
    for piece in ('Name="at" Type="Edm.Geometry', 'Name="path" Type="Edm.Geography', 'Name="area" Type="Edm.Geometry'):
        need(piece in metadata, f"$metadata has no {piece}: {metadata}")
    need("spatial_ref_sys" not in metadata, "a table of the extension is published")


def test_null_tests_and_paging_beside_geometries(env):
    daemon = start(env)
    ids = [row["id"] for row in get(daemon, "/place?$filter=at eq null".replace(" ", "%20")).json()["value"]]
    need([int(i) for i in ids] == [2], f"at eq null: {ids}")
    page = get(daemon, "/place", headers=[("Prefer", "maxpagesize=1")]).json()
    need(len(page["value"]) == 1 and "@odata.nextLink" in page, f"paging: {page}")


def test_geo_functions_that_are_not_there_are_named(env):
    daemon = start(env)
    for call in ("geo.distance(at,geography'SRID=4326;Point(0 0)') lt 10", "geo.length(path) gt 1",
                 "geo.intersects(at,geography'SRID=4326;Polygon((0 0,1 1,1 0,0 0))')"):
        answer = get(daemon, "/place?$filter=" + call.replace(" ", "%20").replace("'", "%27"))
        need(answer.status == 501, f"{call}: {answer.status} {answer.body}")
        need(call.split("(")[0] in answer.json()["error"]["message"], f"{call} is not named: {answer.body}")
