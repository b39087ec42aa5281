-- The tables that `make bench` measures with. One psql command, re-runnable.
--
-- events:   1,000,000 rows x 10 columns, about 300 bytes a row as JSON.
-- parents:  100,000 rows; children: 10 for each of them.
-- devices:  a base with five types that inherit from it, 1,000,000 rows in all; plain_devices: the same rows in one table
--           of as many columns, and flat_devices: in one with the columns of all types.
-- events10: the same rows ten times over, for a result of 10,000,000 rows without the disk space.
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bench CASCADE;
CREATE SCHEMA bench;
SET search_path = bench, pg_catalog;

CREATE UNLOGGED TABLE events (
    id          integer PRIMARY KEY,
    happened_at timestamptz NOT NULL,
    kind        text NOT NULL,
    source      text NOT NULL,
    amount      numeric(12, 2) NOT NULL,
    ratio       double precision NOT NULL,
    ok          boolean NOT NULL,
    sequence    bigint NOT NULL,
    token       uuid NOT NULL,
    message     text
);
INSERT INTO events
SELECT i,
       timestamptz '2024-01-01 00:00:00+00' + i * interval '7 seconds',
       'kind-' || i % 17,
       'source/' || i % 1009,
       (i % 1000000) / 100.0,
       i / 7.0,
       i % 3 = 0,
       i::bigint * 1000003,
       md5(i::text)::uuid,
       CASE WHEN i % 11 <> 0 THEN 'event number ' || i || ' has been seen by "' || md5((i * 7)::text) || '"' END
FROM generate_series(1, 1000000) AS i;
CREATE INDEX events_kind_happened_at ON events (kind, happened_at, id);

CREATE UNLOGGED TABLE parents (
    id   integer PRIMARY KEY,
    name text NOT NULL,
    note text
);
INSERT INTO parents SELECT i, 'parent ' || i, md5(i::text) FROM generate_series(1, 100000) AS i;

CREATE UNLOGGED TABLE children (
    id        integer PRIMARY KEY,
    parent_id integer NOT NULL REFERENCES parents (id),
    name      text NOT NULL,
    quantity  integer NOT NULL,
    price     numeric(10, 2) NOT NULL
);
INSERT INTO children
SELECT i, 1 + (i - 1) / 10, 'child ' || i, i % 100, (i % 10000) / 100.0
FROM generate_series(1, 1000000) AS i;
CREATE INDEX children_parent_id ON children (parent_id);

CREATE UNLOGGED TABLE devices (
    id       integer PRIMARY KEY,
    seen_at  timestamptz NOT NULL,
    name     text NOT NULL,
    place    text NOT NULL,
    price    numeric(12, 2) NOT NULL,
    token    uuid NOT NULL,
    active   boolean NOT NULL
);
CREATE UNLOGGED TABLE lamps (color text, watts integer, lumens double precision, PRIMARY KEY (id)) INHERITS (devices);
CREATE UNLOGGED TABLE locks (maker text, bolts integer, force double precision, PRIMARY KEY (id)) INHERITS (devices);
CREATE UNLOGGED TABLE pumps (medium text, valves integer, flow double precision, PRIMARY KEY (id)) INHERITS (devices);
CREATE UNLOGGED TABLE scales (unit text, digits integer, most double precision, PRIMARY KEY (id)) INHERITS (devices);
CREATE UNLOGGED TABLE fans (blade text, speeds integer, noise double precision, PRIMARY KEY (id)) INHERITS (devices);
CREATE UNLOGGED TABLE plain_devices (LIKE devices INCLUDING INDEXES, note text, number integer, measure double precision);
INSERT INTO plain_devices
SELECT i, timestamptz '2024-01-01 00:00:00+00' + i * interval '7 seconds', 'device number ' || i, 'building/' || i % 1009,
       (i % 1000000) / 100.0, md5(i::text)::uuid, i % 3 = 0,
       CASE WHEN i > 166665 THEN 'note of ' || i % 997 END, CASE WHEN i > 166665 THEN i % 1000 END, CASE WHEN i > 166665 THEN i / 7.0 END
FROM generate_series(1, 1000000) AS i;
INSERT INTO devices SELECT id, seen_at, name, place, price, token, active FROM plain_devices WHERE id <= 166665;
INSERT INTO lamps SELECT * FROM plain_devices WHERE id > 166665 AND id <= 333332;
INSERT INTO locks SELECT * FROM plain_devices WHERE id > 333332 AND id <= 499999;
INSERT INTO pumps SELECT * FROM plain_devices WHERE id > 499999 AND id <= 666666;
INSERT INTO scales SELECT * FROM plain_devices WHERE id > 666666 AND id <= 833333;
INSERT INTO fans SELECT * FROM plain_devices WHERE id > 833333;
CREATE UNLOGGED TABLE flat_devices AS
SELECT id, seen_at, name, place, price, token, active,
       CASE WHEN id / 166666 = 1 THEN note END AS color, CASE WHEN id / 166666 = 1 THEN number END AS watts, CASE WHEN id / 166666 = 1 THEN measure END AS lumens,
       CASE WHEN id / 166666 = 2 THEN note END AS maker, CASE WHEN id / 166666 = 2 THEN number END AS bolts, CASE WHEN id / 166666 = 2 THEN measure END AS force,
       CASE WHEN id / 166666 = 3 THEN note END AS medium, CASE WHEN id / 166666 = 3 THEN number END AS valves, CASE WHEN id / 166666 = 3 THEN measure END AS flow,
       CASE WHEN id / 166666 = 4 THEN note END AS unit, CASE WHEN id / 166666 = 4 THEN number END AS digits, CASE WHEN id / 166666 = 4 THEN measure END AS most,
       CASE WHEN id / 166666 = 5 THEN note END AS blade, CASE WHEN id / 166666 = 5 THEN number END AS speeds, CASE WHEN id / 166666 = 5 THEN measure END AS noise
FROM plain_devices;
ALTER TABLE flat_devices ADD PRIMARY KEY (id);

CREATE VIEW events10 AS
SELECT e.* FROM events AS e CROSS JOIN generate_series(1, 10) AS copy;

VACUUM (ANALYZE) events, parents, children, devices, lamps, locks, pumps, scales, fans, plain_devices, flat_devices;
