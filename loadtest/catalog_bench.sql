-- 10,000 small tables in the schema catalog_bench, each with a key, a unique index, a comment and a
-- foreign key to the one before it. Tables are made in portions, for the sake of the lock table.
DROP SCHEMA IF EXISTS catalog_bench CASCADE;
CREATE SCHEMA catalog_bench;
DO $$
BEGIN
    FOR i IN 1 .. 10000 LOOP
        EXECUTE format(
            'CREATE TABLE catalog_bench.t%s (id int PRIMARY KEY, code varchar(20) NOT NULL UNIQUE,'
            ' previous_id int REFERENCES catalog_bench.t%s, name text, price numeric(10,2),'
            ' seen_at timestamptz DEFAULT now(), flags int[], note text)',
            i, CASE WHEN i = 1 THEN 1 ELSE i - 1 END);
        EXECUTE format('COMMENT ON COLUMN catalog_bench.t%s.name IS ''what it is called''', i);
        IF i % 200 = 0 THEN
            COMMIT;
        END IF;
    END LOOP;
END
$$;
ANALYZE pg_class, pg_attribute, pg_index, pg_constraint, pg_type, pg_description, pg_depend;
