-- The tables that `make bench` measures with. One psql command, re-runnable.
--
-- events:   1,000,000 rows x 10 columns, about 300 bytes a row as JSON.
-- parents:  100,000 rows; children: 10 for each of them.
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

CREATE VIEW events10 AS
SELECT e.* FROM events AS e CROSS JOIN generate_series(1, 10) AS copy;

VACUUM (ANALYZE) events, parents, children;
