-- Fills the tables of 10-schema.sql. All of it is computed from row numbers, so it is the same
-- everywhere and every time.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET TIME ZONE 'UTC';
SET synchronous_commit = off;
SET maintenance_work_mem = '128MB';
BEGIN;
SET LOCAL search_path = public;
TRUNCATE events, type_samples, stock_movements, payments, order_lines, orders, product_suppliers, products,
    suppliers, categories, lockers, employees, customers RESTART IDENTITY CASCADE;

-- A number from 0 to n - 1 that looks accidental; the same for the same seed and salt.
CREATE FUNCTION pg_temp.dice(seed integer, salt text, n integer) RETURNS integer
    LANGUAGE sql IMMUTABLE AS
    $$ SELECT ('x' || left(md5(salt || seed), 7))::bit(28)::integer % n $$;
CREATE FUNCTION pg_temp.pick(words text[], seed integer, salt text) RETURNS text
    LANGUAGE sql IMMUTABLE AS
    $$ SELECT words[1 + pg_temp.dice(seed, salt, cardinality(words))] $$;

CREATE TEMP TABLE words ON COMMIT DROP AS SELECT
    '{Ada,Bjarne,Cilla,Dmitri,Eleni,Farid,Greta,Hugo,Ines,Jonas,Katja,Liam,Mira,Noor,Oskar,Paola,Quentin,Rosa,Sven,Tuva,Ulla,Viktor,Wanda,Yusuf,Zoë}'::text[] AS first_names,
    '{Abel,Björnsen,Castell,Dorn,Ekholm,Farkas,Grünwald,Hale,Ivarsson,Jansen,Kowal,Lindqvist,Marchetti,Novák,O''Dowd,Petrov,Quist,Rautio,Sørby,Tamm,Urban,Vasić,Winter,Yılmaz,Zeller}'::text[] AS last_names,
    '{Harbour Lane,Mill Street,Station Road,Garden Row,Old Market,Chapel Hill,River Walk,Linden Avenue}'::text[] AS streets,
    '{Aarhus,Bergen,Cork,Delft,Essen,Funchal,Ghent,Heidelberg,Ivrea,Jena,Kaunas,Lyon,Malmö,Nantes,Oulu,Porto}'::text[] AS cities,
    '{DK,NO,IE,NL,DE,PT,BE,DE,IT,DE,LT,FR,SE,FR,FI,PT}'::text[] AS countries;

CREATE FUNCTION pg_temp.make_address(seed integer) RETURNS address LANGUAGE sql STABLE AS $$
    SELECT (pg_temp.pick(w.streets, seed, 'street') || ' ' || 1 + pg_temp.dice(seed, 'house', 120),
            (10000 + pg_temp.dice(seed, 'code', 89999))::text,
            w.cities[1 + c.n], w.countries[1 + c.n])::address
    FROM words AS w, (SELECT pg_temp.dice(seed, 'city', 16) AS n) AS c $$;

-- People ------------------------------------------------------------------------------------------

INSERT INTO employees (first_name, last_name, email, job_title, manager_id, hired_on, salary, work_days, shift)
SELECT w.first_names[1 + i % 25], w.last_names[1 + i * 7 % 25],
       lower(w.first_names[1 + i % 25]) || i || '@harbour-goods.example',
       CASE WHEN i = 1 THEN 'Managing Director' WHEN i <= 4 THEN 'Head of ' ||
            (ARRAY['Sales', 'Purchasing', 'Logistics'])[i - 1]
            ELSE (ARRAY['Sales Assistant', 'Buyer', 'Warehouse Clerk'])[1 + (i - 5) % 3] END,
       CASE WHEN i = 1 THEN NULL WHEN i <= 4 THEN 1 ELSE 2 + (i - 5) % 3 END,
       date '2012-03-01' + i * 97, 92000 - 2250.50 * i,
       CASE WHEN i % 4 = 0 THEN '{Mon,Wed,Fri}'::weekday[] ELSE '{Mon,Tue,Wed,Thu,Fri}' END,
       time '07:00' + (i % 5) * interval '45 minutes'
FROM words AS w, generate_series(1, 24) AS i;

INSERT INTO lockers
SELECT id, 'L-' || lpad((id * 3)::text, 3, '0'), hired_on + interval '1 day 9 hours'
FROM employees WHERE id % 3 <> 0;

INSERT INTO customers (public_id, name, email, segment, billing, phones, credit_limit, discount, newsletter, since)
SELECT md5('customer' || i)::uuid,
       CASE WHEN i % 9 = 0
            THEN pg_temp.pick(w.last_names, i, 'firm') || ' & ' || pg_temp.pick(w.last_names, i, 'partner') || ' Ltd'
            ELSE pg_temp.pick(w.first_names, i, 'first') || ' ' || pg_temp.pick(w.last_names, i, 'last') END,
       CASE WHEN i % 11 <> 0 THEN 'customer' || i || '@mail.example' END,
       CASE WHEN i % 9 = 0 THEN 'trade' WHEN i % 50 = 7 THEN 'public' ELSE 'private' END::customer_segment,
       CASE WHEN i % 17 <> 0 THEN pg_temp.make_address(i) END,
       CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE
            ARRAY['+00 555 ' || lpad((i * 37 % 10000)::text, 4, '0')] ||
            CASE WHEN i % 4 = 3 THEN ARRAY['+00 556 ' || lpad((i * 53 % 10000)::text, 4, '0')] ELSE '{}' END END,
       CASE WHEN i % 3 = 0 THEN 500 * (1 + pg_temp.dice(i, 'credit', 40)) END,
       CASE WHEN i % 9 = 0 THEN 7.5 ELSE 0 END,
       CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END,
       date '2015-01-01' + pg_temp.dice(i, 'since', 3200)
FROM words AS w, generate_series(1, 500) AS i;

-- Goods -------------------------------------------------------------------------------------------

INSERT INTO categories (name, description, picture, parent_id) VALUES
    ('Living',    'For rooms where one stays', decode('89504e470d0a1a0a', 'hex'), NULL),
    ('Kitchen',   'For cooks',                 decode('89504e470d0a1a0a', 'hex'), NULL),
    ('Outdoor',   'For gardens and balconies', NULL, NULL),
    ('Seating',   'Chairs, stools, benches',   NULL, 1),
    ('Tables',    NULL,                        NULL, 1),
    ('Storage',   'Shelves, chests, boxes',    NULL, 1),
    ('Lighting',  'Lamps for every corner',    NULL, 1),
    ('Cookware',  'Pots & pans',               NULL, 2),
    ('Tableware', 'Plates, bowls, cups',       NULL, 2),
    ('Knives',    'Sharp things',              NULL, 2),
    ('Planters',  'Pots that hold earth',      NULL, 3),
    ('Tools',     'Spades, rakes, shears',     NULL, 3),
    ('Textiles',  'Empty for the time being',  NULL, 1);

CREATE TEMP TABLE items (category_id integer, names text[], materials text[]) ON COMMIT DROP;
INSERT INTO items VALUES
    (4,  '{Armchair,Stool,Bench,Rocking Chair,Desk Chair}',          '{Oak,Beech,Rattan,Steel}'),
    (5,  '{Dining Table,Side Table,Desk,Coffee Table,Bar Table}',    '{Oak,Walnut,Glass,Marble}'),
    (6,  '{Bookshelf,Chest,Wall Shelf,Cabinet,Box}',                 '{Pine,Cedar,Steel,Bamboo}'),
    (7,  '{Floor Lamp,Table Lamp,Pendant,Wall Lamp,Reading Light}',  '{Brass,Paper,Linen,Steel}'),
    (8,  '{Saucepan,Frying Pan,Casserole,Wok,Kettle}',               '{Copper,Cast Iron,Steel,Enamel}'),
    (9,  '{Plate,Bowl,Cup,Jug,Platter}',                             '{Stoneware,Porcelain,Glass,Olive Wood}'),
    (10, '{Chef''s Knife,Paring Knife,Bread Knife,Cleaver,Oyster Knife}', '{Carbon Steel,Damascus,Ceramic,Steel}'),
    (11, '{Flower Pot,Window Box,Raised Bed,Hanging Basket,Tub}',    '{Terracotta,Zinc,Cedar,Concrete}'),
    (12, '{Spade,Rake,Pruning Shears,Watering Can,Hand Fork}',       '{Ash,Steel,Copper,Zinc}');

INSERT INTO products (sku, name, category_id, price, in_stock, weight_kg, color, tags, attributes, warranty, released_on, discontinued)
SELECT 'HG-' || lpad(i::text, 5, '0'), name, category_id,
       round((4.9 + pg_temp.dice(i, 'price', 60) ^ 1.55)::numeric, 2),
       CASE WHEN i % 13 = 0 THEN 0 ELSE pg_temp.dice(i, 'stock', 300) END,
       CASE WHEN i % 19 <> 0 THEN round((0.1 + pg_temp.dice(i, 'weight', 400) / 16.0)::numeric, 2) END,
       CASE WHEN i % 7 <> 0 THEN (enum_range(NULL::color))[1 + i % 7] END,
       CASE i % 4 WHEN 0 THEN '{}' WHEN 1 THEN '{new}' WHEN 2 THEN '{sale,last pieces}' ELSE '{handmade}' END::text[],
       CASE WHEN i % 5 <> 0 THEN jsonb_build_object('material', material, 'care',
            CASE WHEN i % 2 = 0 THEN 'wipe with a damp cloth' END, 'size',
            jsonb_build_object('width', 10 + i % 90, 'height', 5 + i % 60)) END,
       CASE WHEN i % 3 <> 0 THEN make_interval(years => 1 + i % 5) END,
       date '2016-01-04' + i * 13, i % 23 = 0
FROM (SELECT (row_number() OVER (ORDER BY t.category_id, m.place, n.place))::integer AS i,
             t.category_id, m.material || ' ' || n.name AS name, m.material
      FROM items AS t, unnest(t.names) WITH ORDINALITY AS n (name, place),
           unnest(t.materials) WITH ORDINALITY AS m (material, place)) AS p
ORDER BY i;

INSERT INTO suppliers (name, homepage, seat, rating)
SELECT pg_temp.pick(w.last_names, i, 'supplier') || ' ' ||
       (ARRAY['Workshop', 'Trading', 'Brothers', 'Foundry', 'Joinery'])[1 + i % 5],
       CASE WHEN i % 4 <> 0 THEN 'https://supplier' || i || '.example/' END,
       pg_temp.make_address(10000 + i), CASE WHEN i % 6 <> 0 THEN pg_temp.dice(i, 'rating', 51) / 10.0 END
FROM words AS w, generate_series(1, 30) AS i;

INSERT INTO product_suppliers
SELECT p.id, s.id FROM products AS p, suppliers AS s
WHERE s.id <> 30 AND (s.id = 1 + p.id % 29 OR (p.id % 2 = 0 AND s.id = 1 + p.id * 7 % 29));

INSERT INTO stock_movements
SELECT i, date '2023-01-01' + i * 730 / 4000, 1 + pg_temp.dice(i, 'moved', 180),
       CASE WHEN i % 3 = 0 THEN 50 ELSE -1 - pg_temp.dice(i, 'many', 12) END,
       CASE WHEN i % 3 = 0 THEN 'delivery' WHEN i % 31 = 0 THEN 'broken' ELSE 'sale' END
FROM generate_series(1, 3999) AS i;

-- Orders ------------------------------------------------------------------------------------------

INSERT INTO orders (customer_id, employee_id, status, placed_at, shipped_at, ship_to, freight, handling_time, remark)
SELECT 1 + pg_temp.dice(i, 'customer', 490), CASE WHEN i % 4 <> 0 THEN 5 + i % 20 END, s.status, t.placed_at,
       CASE WHEN s.status IN ('shipped', 'delivered') THEN t.placed_at + h.handling_time END,
       CASE WHEN i % 10 = 0 THEN pg_temp.make_address(20000 + i) END,
       (pg_temp.dice(i, 'freight', 4000) / 100.0)::numeric(8,2), h.handling_time,
       (ARRAY['Please ring twice', 'Leave it with the neighbour', 'A gift: no invoice, please'])[1 + i % 40]
FROM generate_series(1, 3000) AS i,
     LATERAL (SELECT timestamptz '2023-01-02 08:00:00Z' + i * interval '5 hours 49 minutes 12.345 seconds'
              AS placed_at) AS t,
     LATERAL (SELECT make_interval(days => pg_temp.dice(i, 'days', 5), mins => pg_temp.dice(i, 'mins', 1440))
              AS handling_time) AS h,
     LATERAL (SELECT CASE WHEN i % 29 = 0 THEN 'cancelled' WHEN i <= 2700 THEN 'delivered' WHEN i <= 2850
              THEN 'shipped' ELSE (ARRAY['placed', 'paid', 'packed'])[1 + i % 3] END::order_status
              AS status) AS s
ORDER BY i;

INSERT INTO order_lines
SELECT o.id, l, p.id, 1 + pg_temp.dice((o.id * 10 + l)::integer, 'quantity', 6), p.price
FROM orders AS o, generate_series(1, 1 + o.id % 5) AS l
JOIN products AS p ON true
WHERE p.id = 1 + pg_temp.dice((o.id * 10 + l)::integer, 'product', 180);

CREATE TEMP TABLE paid ON COMMIT DROP AS
SELECT nextval('payment_ids') AS id, o.id AS order_id, o.placed_at + interval '1 hour' AS paid_at,
       o.freight + sum(l.quantity * l.unit_price) AS amount, pg_temp.dice(o.id::integer, 'payment', 6) AS kind
FROM orders AS o JOIN order_lines AS l ON l.order_id = o.id WHERE o.status <> 'placed' GROUP BY o.id ORDER BY o.id;
INSERT INTO payments SELECT id, order_id, paid_at, amount FROM paid WHERE kind = 0;
INSERT INTO card_payments
SELECT id, order_id, paid_at, amount, CASE WHEN kind < 3 THEN 'Visa' ELSE 'Mastercard' END, to_char(id % 10000, 'FM0000')
FROM paid WHERE kind BETWEEN 1 AND 3;
INSERT INTO transfers
SELECT id, order_id, paid_at, amount, 'DE' || to_char(10 + id % 90, 'FM00') || '10010010' || to_char(id, 'FM0000000000'),
       CASE WHEN kind = 4 THEN 'order ' || order_id END
FROM paid WHERE kind > 3;

REFRESH MATERIALIZED VIEW product_sales;

-- One column for each type ------------------------------------------------------------------------

INSERT INTO type_samples VALUES
(1, true, 12, 123456, 1234567890123, 1.5, 3.141592653589793, 1234.500, 3.14159265358979323846, 12.34,
 'plain text', 'twenty at most', 'char', 'a_name', '<note lang="en">hello</note>', '192.0.2.1', '192.0.2.0/24',
 '00:00:5e:00:53:01', '[1,10)', '["2024-01-01 00:00:00+00","2024-02-01 00:00:00+00")', B'10110011', '(1.5,-2)',
 'fat cats sat', '6b29fc40-ca47-1067-b31d-00dd010662da', '2024-02-29', '2024-02-29 13:14:15.123456',
 '2024-02-29 13:14:15.123456+00', '2024-02-29 13:14:15.123+00', '13:14:15.5', '13:14:15+02', 'P1DT2H3M4.5S',
 '\x0102feff', 'red', ROW('Mill Street 7', '10117', 'Ghent', 'BE'), 'someone@mail.example', '{1,2,3}', '{a,b c,"d,e"}',
 '{red,blue}', ARRAY[ROW('Old Market 1', '5000', 'Delft', 'NL'), ROW('River Walk 2', NULL, 'Cork', 'IE')]::address[],
 '{{1,2},{3,4}}', '{"b": 1, "a": [1, 2]}', '{"b": 1, "a": [1, 2]}'),
(2, false, 32767, 2147483647, 9223372036854775807, 3.4028235e38, 1.7976931348623157e308, 999999999.999,
 12345678901234567890123456789.0123456789, 92233720368547758.07, repeat('long ', 50), 'O''Neil & "Sons"', 'abcdef',
 'UPPER', '<a/>', '2001:db8::1/64', '10.0.0.0/8', 'ff:ff:ff:ff:ff:ff', '(,)', 'empty', B'11111111', '(0,0)', '',
 'ffffffff-ffff-ffff-ffff-ffffffffffff', '9999-12-31', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00',
 '9999-12-31 23:59:59.999+00', '23:59:59.999999', '23:59:59-12', 'P10675199D', decode(repeat('ff', 64), 'hex'), 'grey',
 ROW('', '', '', '  '), 'a@b', '{2147483647,-2147483648,NULL}', '{"",NULL,"NULL","quote\"d"}', '{}', '{}', '{}',
 '"a string"', '12345678901234567890'),
(3, NULL, -32768, -2147483648, -9223372036854775808, -3.4028235e38, -1.7976931348623157e308, -999999999.999,
 -0.000000000000000000001, -0.01, E'Zeile 1\nZeile 2\t\u00e4\u00f6\u00fc \u65e5\u672c\u8a9e \U0001F600', '', '', '',
 NULL, NULL, NULL, NULL, NULL, NULL, B'00000000', NULL, NULL, '00000000-0000-0000-0000-000000000000', '0001-01-01',
 '0001-01-01 00:00:00', '0001-01-01 00:00:00+00', '0001-01-01 00:00:00+00', '00:00:00', NULL, 'P-1DT-1S', '\x', NULL,
 NULL, NULL, '{}', '{}', NULL, NULL, NULL, 'null', 'null'),
(4, true, 0, 0, 9007199254740993, 'NaN', 'Infinity', 0, 'NaN', 0, 'not a number', 'INF', 'NaN', 'x', NULL, NULL, NULL,
 NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'infinity', 'infinity', '-infinity', NULL, NULL, NULL, 'P1Y2M3D', NULL, NULL,
 NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO type_samples (id) VALUES (5);

DO $$
DECLARE
    sample record;
BEGIN
    FOR sample IN SELECT c.column_name, v.value FROM information_schema.columns AS c
        JOIN (VALUES ('a_citext', 'Any Case'), ('a_hstore', '"k"=>"v", "n"=>NULL'), ('a_ltree', 'house.kitchen.oven'))
            AS v (name, value) ON v.name = c.column_name
        WHERE c.table_schema = 'public' AND c.table_name = 'type_samples'
    LOOP
        EXECUTE format('UPDATE type_samples SET %I = %L WHERE id = 1', sample.column_name, sample.value);
    END LOOP;
END
$$;

-- A million rows: their keys and indexes are made when they are there, which is quicker ------------

ALTER TABLE events DROP CONSTRAINT IF EXISTS events_pkey;
DROP INDEX IF EXISTS events_kind_happened_at, events_happened_at;
INSERT INTO events
SELECT i, timestamptz '2024-01-01 00:00:00Z' + i * interval '31.1 seconds',
       (ARRAY['view', 'search', 'basket', 'order', 'login', 'error'])[1 + (i * 7919 % 11) % 6],
       CASE WHEN i % 3 <> 0 THEN 1 + i * 7907 % 500 END,
       '/products/' || 1 + i * 7901 % 180 || '?page=' || i % 20,
       CASE WHEN i % 5 = 0 THEN (i * 7877 % 99999)::numeric / 100 END,
       (i * 7867 % 100000) / 64.0, i % 101 <> 0, md5(i::text)::uuid,
       'visitor ' || i * 7853 % 100003 || ' came from page ' || i % 977 || ' and stayed a while'
FROM generate_series(1::bigint, 1000000) AS i;
ALTER TABLE events ADD CONSTRAINT events_pkey PRIMARY KEY (id);
CREATE INDEX events_kind_happened_at ON events (kind, happened_at, id);
CREATE INDEX events_happened_at ON events (happened_at, id);
COMMIT;

VACUUM (ANALYZE);
