// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shop_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OID_BOOL = 16,
    OID_BYTEA = 17,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_FLOAT4 = 700,
    OID_FLOAT8 = 701,
    OID_TEXT_ARRAY = 1009,
    OID_BPCHAR = 1042,
    OID_DATE = 1082,
    OID_TIME = 1083,
    OID_TIMESTAMP = 1114,
    OID_TIMESTAMPTZ = 1184,
    OID_INTERVAL = 1186,
    OID_NUMERIC = 1700,
    OID_UUID = 2950,
    OID_COLOR = 90001,
    OID_ADDRESS = 90002,
};

/* A column in short: the letter is its type. */
struct column {
    const char *name;
    const char *column;
    char type;
    bool nullable;
};

static const struct column address_columns[] = {
    {"Street", "street", 's', true}, {"City", "city", 's', true}, {"Zip", "zip", 'i', true}, {0}};
static const struct column category_columns[] = {
    {"ID", "id", 'i', false}, {"Name", "name", 's', false}, {"Picture", "picture", 'x', true}, {0}};
static const struct column product_columns[] = {{"ID", "id", 'i', false},
                                                {"Name", "name", 's', false},
                                                {"CategoryID", "category_id", 'i', true},
                                                {"Price", "price", 'n', true},
                                                {"Stock", "stock", 'h', true},
                                                {"Weight", "weight", 'd', true},
                                                {"Discontinued", "discontinued", 'b', false},
                                                {"Released", "released", 'D', true},
                                                {"Color", "color", 'E', true},
                                                {"Tags", "tags", 'S', true},
                                                {0}};
static const struct column supplier_columns[] = {
    {"ID", "id", 'i', false}, {"Name", "name", 's', false}, {0}};
static const struct column customer_columns[] = {
    {"ID", "id", 's', false},        {"Name", "name", 's', false},      {"City", "city", 's', true},
    {"Active", "active", 'b', true}, {"Address", "address", 'C', true}, {0}};
static const struct column employee_columns[] = {{"ID", "id", 'i', false},
                                                 {"Name", "name", 's', false},
                                                 {"ManagerID", "manager_id", 'i', true},
                                                 {"Badge", "badge", 'g', false},
                                                 {0}};
static const struct column order_columns[] = {{"ID", "id", 'l', false},
                                              {"CustomerID", "customer_id", 's', true},
                                              {"EmployeeID", "employee_id", 'i', true},
                                              {"Placed", "placed", 'z', true},
                                              {"Entered", "entered", 't', true},
                                              {"ShipTime", "ship_time", 'T', true},
                                              {"Handling", "handling", 'I', true},
                                              {"Freight", "freight", 'n', true},
                                              {0}};
static const struct column item_columns[] = {
    {"OrderID", "order_id", 'l', false},     {"Line", "line", 'h', false},
    {"ProductID", "product_id", 'i', false}, {"Quantity", "quantity", 'i', false},
    {"Discount", "discount", 'f', false},    {0}};
static const struct column rate_columns[] = {{"Currency", "currency", 'c', false},
                                             {"ValidFrom", "valid_from", 'D', false},
                                             {"Rate", "rate", 'n', false},
                                             {0}};
static const struct column tick_columns[] = {{"ID", "id", 'i', false},
                                             {"Grp", "grp", 'i', true},
                                             {"Val", "val", 'd', true},
                                             {"Label", "label", 's', false},
                                             {0}};

static const struct table {
    const char *set;
    const char *type;
    const char *table;
    const struct column *columns;
    const char *key[3];
    const char *alternate;
} tables[] = {
    {"Categories", "Category", "categories", category_columns, {"ID"}, "Name"},
    {"Customers", "Customer", "customers", customer_columns, {"ID"}, NULL},
    {"Employees", "Employee", "employees", employee_columns, {"ID"}, "Badge"},
    {"Items", "Item", "items", item_columns, {"OrderID", "Line"}, NULL},
    {"Orders", "Order", "orders", order_columns, {"ID"}, NULL},
    {"Products", "Product", "products", product_columns, {"ID"}, NULL},
    {"Rates", "Rate", "rates", rate_columns, {"Currency", "ValidFrom"}, NULL},
    {"Suppliers", "Supplier", "suppliers", supplier_columns, {"ID"}, NULL},
    {"Ticks", "Tick", "ticks", tick_columns, {"ID"}, NULL},
};

/* A foreign key and the two navigations that it gives. */
static const struct relation {
    const char *from;
    const char *from_property;
    const char *navigation;
    const char *to;
    const char *back;
} relations[] = {
    {"Product", "CategoryID", "Category", "Category", "Products"},
    {"Order", "CustomerID", "Customer", "Customer", "Orders"},
    {"Order", "EmployeeID", "Employee", "Employee", "Orders"},
    {"Item", "OrderID", "Order", "Order", "Items"},
    {"Item", "ProductID", "Product", "Product", "Items"},
    {"Employee", "ManagerID", "Manager", "Employee", "Reports"},
};

static void *need(void *memory)
{
    if (memory == NULL) {
        fputs("shop_model: memory is short\n", stderr);
        abort();
    }
    return memory;
}

static struct property *find(const struct entity_type *t, const char *name)
{
    for (size_t i = 0; i < t->property_count; i++) {
        if (str_eq(t->properties[i].name, str_from(name))) {
            return &t->properties[i];
        }
    }
    abort();
}

static struct entity_type *type_of(struct model *m, const char *name)
{
    for (size_t i = 0; i < m->type_count; i++) {
        if (str_eq(m->types[i].name, str_from(name))) {
            return &m->types[i];
        }
    }
    abort();
}

static void set_type(const struct model *m, struct property *p, const struct column *c)
{
    static const struct {
        char letter;
        enum edm_type type;
        uint32_t oid;
        struct str cast;
    } letters[] = {
        {'i', EDM_INT32, OID_INT4, {STR_INIT("int4")}},
        {'h', EDM_INT16, OID_INT2, {STR_INIT("int2")}},
        {'l', EDM_INT64, OID_INT8, {STR_INIT("int8")}},
        {'n', EDM_DECIMAL, OID_NUMERIC, {STR_INIT("numeric")}},
        {'f', EDM_SINGLE, OID_FLOAT4, {STR_INIT("float4")}},
        {'d', EDM_DOUBLE, OID_FLOAT8, {STR_INIT("float8")}},
        {'b', EDM_BOOLEAN, OID_BOOL, {STR_INIT("bool")}},
        {'s', EDM_STRING, OID_TEXT, {STR_INIT("text")}},
        {'c', EDM_STRING, OID_BPCHAR, {STR_INIT("bpchar")}},
        {'g', EDM_GUID, OID_UUID, {STR_INIT("uuid")}},
        {'x', EDM_BINARY, OID_BYTEA, {STR_INIT("bytea")}},
        {'D', EDM_DATE, OID_DATE, {STR_INIT("date")}},
        {'T', EDM_TIMEOFDAY, OID_TIME, {STR_INIT("time")}},
        {'z', EDM_DATETIMEOFFSET, OID_TIMESTAMPTZ, {STR_INIT("timestamptz")}},
        {'t', EDM_DATETIMEOFFSET, OID_TIMESTAMP, {STR_INIT("timestamp")}},
        {'I', EDM_DURATION, OID_INTERVAL, {STR_INIT("interval")}},
        {'E', EDM_ENUM, OID_COLOR, {STR_INIT("shop.color")}},
        {'C', EDM_COMPLEX, OID_ADDRESS, {STR_INIT("shop.address")}},
        {'S', EDM_STRING, OID_TEXT_ARRAY, {STR_INIT("text[]")}},
    };
    for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
        if (letters[i].letter == c->type) {
            p->type = (struct type_ref){.type = letters[i].type,
                                        .nullable = c->nullable,
                                        .max_length = FACET_NONE,
                                        .precision = FACET_NONE,
                                        .scale = FACET_NONE};
            p->pg = (struct pg_type_ref){.oid = letters[i].oid, .cast = letters[i].cast};
        }
    }
    if (c->type == 'S') {
        p->type.collection = true;
        p->pg.element_oid = OID_TEXT;
    } else if (c->type == 'E') {
        p->type.enum_type = &m->enums[0];
    } else if (c->type == 'C') {
        p->type.complex_type = &m->complexes[0];
    } else if (c->type == 'n') {
        p->type.scale = FACET_VARIABLE;
    }
}

static struct property *make_properties(struct model *m, const struct column *columns,
                                        size_t *out_count)
{
    size_t count = 0;
    while (columns[count].name != NULL) {
        count++;
    }
    struct property *all = need(ARENA_ARRAY(model_arena(m), count, struct property));
    for (size_t i = 0; i < count; i++) {
        all[i].name = str_from(columns[i].name);
        all[i].column = str_from(columns[i].column);
        all[i].description = STR("");
        all[i].index = i;
        set_type(m, &all[i], &columns[i]);
    }
    *out_count = count;
    return all;
}

static void make_enum_and_complex(struct model *m)
{
    static struct str members[] = {{STR_INIT("red")}, {STR_INIT("green")}, {STR_INIT("blue")}};
    m->enums = need(ARENA_NEW(model_arena(m), struct enum_type));
    m->enum_count = 1;
    m->enums[0] = (struct enum_type){
        .namespace = STR("shop"),
        .name = STR("Color"),
        .members = members,
        .member_count = ARRAY_SIZE(members),
        .description = STR(""),
        .pg = {.oid = OID_COLOR, .cast = STR("shop.color")},
    };
    m->complexes = need(ARENA_NEW(model_arena(m), struct complex_type));
    m->complex_count = 1;
    m->complexes[0] = (struct complex_type){
        .namespace = STR("shop"),
        .name = STR("Address"),
        .description = STR(""),
        .pg = {.oid = OID_ADDRESS, .cast = STR("shop.address")},
    };
    m->complexes[0].properties =
        make_properties(m, address_columns, &m->complexes[0].property_count);
}

static const struct search_piece product_search[] = {
    {{STR_INIT("to_tsvector('simple'::regconfig, coalesce(")}, {STR_INIT("name")}},
    {{STR_INIT("::text, ''))")}, {STR_INIT("")}}};
static const struct search_piece tick_search[] = {
    {{STR_INIT("to_tsvector('simple'::regconfig, coalesce(")}, {STR_INIT("label")}},
    {{STR_INIT("::text, ''))")}, {STR_INIT("")}}};

static void make_types(struct model *m)
{
    struct arena *a = model_arena(m);
    m->types = need(ARENA_ARRAY(a, ARRAY_SIZE(tables), struct entity_type));
    m->sets = need(ARENA_ARRAY(a, ARRAY_SIZE(tables), struct entity_set));
    m->type_count = m->set_count = ARRAY_SIZE(tables);
    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        struct entity_type *t = &m->types[i];
        m->sets[i] = (struct entity_set){.name = str_from(tables[i].set), .type = t};
        t->namespace = STR("shop");
        t->name = str_from(tables[i].type);
        t->schema = STR("shop");
        t->table = str_from(tables[i].table);
        t->description = STR("");
        t->set = &m->sets[i];
        t->oid = (uint32_t)(50000 + i);
        t->properties = make_properties(m, tables[i].columns, &t->property_count);
        t->navigations = need(ARENA_ARRAY(a, 8, struct navigation));
        t->key.properties = need(ARENA_ARRAY(a, 2, const struct property *));
        if (str_eq(t->name, STR("Product"))) {
            t->search = (struct search_source){product_search, ARRAY_SIZE(product_search),
                                               STR("'simple'::regconfig"), true};
        }
        if (str_eq(t->name, STR("Tick"))) {
            t->search = (struct search_source){tick_search, ARRAY_SIZE(tick_search),
                                               STR("'simple'::regconfig"), false};
        }
        while (t->key.count < 2 && tables[i].key[t->key.count] != NULL) {
            t->key.properties[t->key.count] = find(t, tables[i].key[t->key.count]);
            t->key.count++;
        }
        if (tables[i].alternate != NULL) {
            t->alternate_keys = need(ARENA_NEW(a, struct key));
            t->alternate_key_count = 1;
            t->alternate_keys[0].properties = need(ARENA_ARRAY(a, 1, const struct property *));
            t->alternate_keys[0].properties[0] = find(t, tables[i].alternate);
            t->alternate_keys[0].count = 1;
        }
    }
}

static struct navigation *add_navigation(struct entity_type *from, const char *name,
                                         const struct entity_type *to)
{
    struct navigation *n = &from->navigations[from->navigation_count];
    n->name = str_from(name);
    n->source = from;
    n->target = to;
    n->index = from->navigation_count++;
    return n;
}

static void join_by(struct model *m, struct navigation *n, const struct property *local,
                    const struct property *remote)
{
    n->joins = need(ARENA_NEW(model_arena(m), struct join_column));
    n->join_count = 1;
    n->joins[0] = (struct join_column){local, remote};
}

static void make_navigations(struct model *m)
{
    for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
        struct entity_type *from = type_of(m, relations[i].from);
        struct entity_type *to = type_of(m, relations[i].to);
        const struct property *local = find(from, relations[i].from_property);
        const struct property *remote = to->key.properties[0];
        struct navigation *there = add_navigation(from, relations[i].navigation, to);
        struct navigation *back = add_navigation(to, relations[i].back, from);
        join_by(m, there, local, remote);
        join_by(m, back, remote, local);
        there->nullable = local->type.nullable;
        there->dependent = true;
        back->collection = true;
        there->partner = back;
        back->partner = there;
    }
}

static struct link_table *make_link(struct model *m, const char *local_column,
                                    const char *remote_column, const struct entity_type *local,
                                    const struct entity_type *remote)
{
    struct arena *a = model_arena(m);
    struct link_table *link = need(ARENA_NEW(a, struct link_table));
    link->schema = STR("shop");
    link->table = STR("product_suppliers");
    link->local_columns = need(ARENA_NEW(a, struct str));
    link->remote_columns = need(ARENA_NEW(a, struct str));
    link->local = need(ARENA_NEW(a, const struct property *));
    link->remote = need(ARENA_NEW(a, const struct property *));
    link->local_columns[0] = str_from(local_column);
    link->remote_columns[0] = str_from(remote_column);
    link->local[0] = local->key.properties[0];
    link->remote[0] = remote->key.properties[0];
    link->local_count = link->remote_count = 1;
    return link;
}

static void make_many_to_many(struct model *m)
{
    struct entity_type *product = type_of(m, "Product");
    struct entity_type *supplier = type_of(m, "Supplier");
    struct navigation *there = add_navigation(product, "Suppliers", supplier);
    struct navigation *back = add_navigation(supplier, "Products", product);
    there->collection = back->collection = true;
    there->partner = back;
    back->partner = there;
    there->link = make_link(m, "product_id", "supplier_id", product, supplier);
    back->link = make_link(m, "supplier_id", "product_id", supplier, product);
}

struct model *shop_model_new(void)
{
    static struct str namespaces[] = {{STR_INIT("shop")}};
    struct model *m = need(model_new());
    m->container = STR("Container");
    m->namespaces = namespaces;
    m->namespace_count = 1;
    make_enum_and_complex(m);
    make_types(m);
    make_navigations(m);
    make_many_to_many(m);
    struct odata_error err;
    if (!model_seal(m, &err)) {
        fprintf(stderr, "shop_model: %s\n", err.message);
        abort();
    }
    return m;
}

const char *const shop_model_sql[] = {
    "DROP SCHEMA IF EXISTS shop CASCADE;"
    "CREATE SCHEMA shop;"
    "CREATE TYPE shop.color AS ENUM ('red', 'green', 'blue');"
    "CREATE TYPE shop.address AS (street text, city text, zip int4);"
    "CREATE TABLE shop.categories (id int4 PRIMARY KEY, name text NOT NULL UNIQUE, picture bytea);"
    "CREATE TABLE shop.products (id int4 PRIMARY KEY, name text NOT NULL,"
    " category_id int4 REFERENCES shop.categories, price numeric, stock int2, weight float8,"
    " discontinued bool NOT NULL, released date, color shop.color, tags text[]);"
    "CREATE TABLE shop.suppliers (id int4 PRIMARY KEY, name text NOT NULL);"
    "CREATE TABLE shop.product_suppliers (product_id int4 REFERENCES shop.products,"
    " supplier_id int4 REFERENCES shop.suppliers, PRIMARY KEY (product_id, supplier_id));"
    "CREATE TABLE shop.customers (id text PRIMARY KEY, name text NOT NULL, city text,"
    " active bool, address shop.address);"
    "CREATE TABLE shop.employees (id int4 PRIMARY KEY, name text NOT NULL,"
    " manager_id int4 REFERENCES shop.employees, badge uuid NOT NULL UNIQUE);"
    "CREATE TABLE shop.orders (id int8 PRIMARY KEY, customer_id text REFERENCES shop.customers,"
    " employee_id int4 REFERENCES shop.employees, placed timestamptz, entered timestamp,"
    " ship_time time, handling interval, freight numeric);"
    "CREATE TABLE shop.items (order_id int8 REFERENCES shop.orders, line int2,"
    " product_id int4 NOT NULL REFERENCES shop.products, quantity int4 NOT NULL,"
    " discount float4 NOT NULL, PRIMARY KEY (order_id, line));"
    "CREATE TABLE shop.rates (currency char(3), valid_from date, rate numeric NOT NULL,"
    " PRIMARY KEY (currency, valid_from));"
    "CREATE TABLE shop.ticks (id int4 PRIMARY KEY, grp int4, val float8, label text NOT NULL);",
    "INSERT INTO shop.categories VALUES (1, 'Beverages', '\\x00ff'), (2, 'Condiments', '\\x'),"
    " (3, 'Produce', NULL), (4, 'Empty', NULL);"
    "INSERT INTO shop.products VALUES"
    " (1, 'Chai', 1, 18.00, 39, 0.25, false, '2010-01-15', 'green', '{tea,hot}'),"
    " (2, 'Chang', 1, 19.00, 17, 0.5, false, '2011-06-30', 'blue', '{beer}'),"
    " (3, 'Syrup', 2, 10.00, 13, 0.55, false, '2012-02-29', 'red', '{}'),"
    " (4, 'Cajun', 2, 22.00, 53, 0.1, false, NULL, NULL, NULL),"
    " (5, 'Gumbo', 2, 21.35, 0, 1.75, true, '2012-03-01', 'red', '{soup,hot}'),"
    " (6, 'Pears', 3, 30.00, 15, 1, false, '2013-12-31', 'blue', '{fruit,NULL}'),"
    " (7, 'Tofu', 3, NULL, NULL, NULL, false, NULL, 'green', '{soy}'),"
    " (8, 'Loose', NULL, 0.00, 1, 0.001, false, '2014-01-01', NULL, '{\"a,b\"}'),"
    " (9, '50% off_sale', NULL, 2.55, 5, 2.5, true, '2014-01-02', NULL, '{sale}'),"
    " (10, 'back\\slash', NULL, 2.45, 5, -2.5, false, '2014-01-03', NULL, '{}');"
    "INSERT INTO shop.suppliers VALUES (1, 'Exotic'), (2, 'Cajun Delights'), (3, 'None');"
    "INSERT INTO shop.product_suppliers VALUES (1,1), (2,1), (3,1), (3,2), (4,2), (5,2);"
    "INSERT INTO shop.customers VALUES"
    " ('ALFKI', 'Alfreds', 'Berlin', true, ROW('Obere Str. 57', 'Berlin', 12209)),"
    " ('BLAUS', 'Blauer', 'Mannheim', true, NULL),"
    " ('CHOPS', 'Chop', NULL, false, ROW(NULL, 'Bern', NULL)),"
    " ('DRACD', 'Drache', NULL, NULL, NULL), ('O''N', 'O''Neil & Sons', 'Cork', true, NULL);"
    "INSERT INTO shop.employees VALUES"
    " (1, 'Nancy', NULL, '01234567-89ab-cdef-0123-456789abcdef'),"
    " (2, 'Andrew', 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff'),"
    " (3, 'Janet', 1, '00000000-0000-0000-0000-000000000003'),"
    " (4, 'Margaret', 2, '00000000-0000-0000-0000-000000000004'),"
    " (5, 'Steven', 4, '00000000-0000-0000-0000-000000000005');"
    "INSERT INTO shop.orders VALUES"
    " (10248, 'ALFKI', 5, '2020-07-04 00:00:00+00', '2020-07-04 00:00:00', '07:59:59.999',"
    " 'PT1H30M', 32.38), (10249, 'ALFKI', 1, '2020-07-05 23:59:59.999+00', NULL, '00:00:00', 'P1D',"
    " 11.61), (10250, 'BLAUS', 4, '2020-12-31 23:30:00-05', '2021-01-01 04:30:00', NULL, NULL,"
    " NULL), (10251, 'O''N', NULL, NULL, NULL, '23:59:59', 'PT-15M', 0),"
    " (10252, NULL, 2, '2021-02-28 12:00:00+00', NULL, '12:00:00', 'P3DT4H5M6.789S', 51.30),"
    " (9007199254740993, 'CHOPS', 3, '2021-03-14 15:09:26.535897+00', NULL, '15:09:26', 'PT0S',"
    " 3.05);"
    "INSERT INTO shop.items VALUES (10248, 1, 1, 12, 0), (10248, 2, 3, 10, 0.05),"
    " (10248, 3, 5, 5, 0.15), (10249, 1, 2, 40, 0), (10250, 1, 1, 1, 0), (10250, 2, 6, 35, 0.25),"
    " (10252, 1, 6, 2, 0), (9007199254740993, 1, 4, 100, 0.1);"
    "INSERT INTO shop.rates VALUES ('EUR', '2020-01-01', 1), ('USD', '2020-01-01', 1.1234),"
    " ('USD', '2021-01-01', 1.2), ('JP', '2020-01-01', 121.77);"
    "INSERT INTO shop.ticks SELECT i, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 3 END,"
    " CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN 'NaN' ELSE (i * 37) % 11 / 4.0 END,"
    " chr(97 + i % 4) FROM generate_series(1, 60) AS i;",
    NULL};
