// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/compiler.h"
#include "tests/storage/catalog_fixture.h"

static const struct catalog_case cases[] = {
    {"a foreign key gives a way there and a way back",
     "CREATE TABLE category (id int4 PRIMARY KEY);"
     "CREATE TABLE product (id int4 PRIMARY KEY, category_id int4 REFERENCES category);",
     "product -> category: category one null dependent back=product on category_id=id\n"
     "category -> product: product many back=category on id=category_id\n",
     NULL},
    {"a foreign key that is not null leads to something always",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY,"
     " aId int4, \"aId\" int4 NOT NULL REFERENCES a);",
     "b -> a: a one dependent back=b on aId=id\na -> b: b many back=a on id=aId\n", NULL},
    {"a foreign key that was never validated may lead nowhere",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY, a_id int4 NOT "
     "NULL);"
     "ALTER TABLE b ADD FOREIGN KEY (a_id) REFERENCES a NOT VALID;",
     "b -> a: a one null dependent\n", NULL},
    {"a row policy may hide where a foreign key leads",
     "CREATE TABLE a (id int4 PRIMARY KEY); ALTER TABLE a ENABLE ROW LEVEL SECURITY;"
     "CREATE TABLE b (id int4 PRIMARY KEY, a_id int4 NOT NULL REFERENCES a);",
     "b -> a: a one null dependent\n", NULL},
    {"only _id, Id and ID are taken off, and only when something is left",
     "CREATE TABLE t (id int4 PRIMARY KEY);"
     "CREATE TABLE s (id int4 PRIMARY KEY, x_no int4 REFERENCES t);"
     "CREATE TABLE u (id int4 PRIMARY KEY, \"xID\" int4 REFERENCES t);"
     "CREATE TABLE v (id int4 PRIMARY KEY, _id int4 REFERENCES t);"
     "CREATE TABLE w (\"Id\" int4 PRIMARY KEY REFERENCES t);"
     "CREATE TABLE x (id int4 PRIMARY KEY, \"1_id\" int4 REFERENCES t);",
     "s -> t: t one\nu -> x: t one\nv -> t: t one\nw -> t: t one\nx -> _1: t one\n", NULL},
    {"a column that is called like what is left keeps its name",
     "CREATE TABLE owner (id int4 PRIMARY KEY);"
     "CREATE TABLE car (id int4 PRIMARY KEY, boss text, boss_id int4 REFERENCES owner);",
     "car.boss: String\ncar -> owner: owner one null dependent back=car on boss_id=id\n",
     "car -> boss\n"},
    {"a navigation property yields to a property and gets a number",
     "CREATE TABLE item (id int4 PRIMARY KEY, item text);"
     "CREATE TABLE line (id int4 PRIMARY KEY, item int4 REFERENCES item);",
     "line.item: Int32\nline -> item_2: item one null dependent back=line on item=id\n"
     "warning ct.item: property 'item' has the name of its type\n",
     "line -> item:\nwarning ct.line\n"},
    {"two foreign keys to one table are told apart by their columns",
     "CREATE TABLE party (id int4 PRIMARY KEY);"
     "CREATE TABLE deal (id int4 PRIMARY KEY, buyer_id int4 REFERENCES party,"
     " seller_id int4 REFERENCES party);",
     "deal -> buyer: party one\ndeal -> seller: party one\n"
     "party -> deal_by_buyer_id: deal many back=buyer on id=buyer_id\n"
     "party -> deal_by_seller_id: deal many back=seller on id=seller_id\n",
     "party -> deal:\n"},
    {"so are those whose columns have no suffix",
     "CREATE TABLE party (id int4 PRIMARY KEY);"
     "CREATE TABLE deal (id int4 PRIMARY KEY, payer int4 REFERENCES party,"
     " payee int4 REFERENCES party);",
     "deal -> party_by_payer: party one null dependent back=deal_by_payer\n"
     "deal -> party_by_payee: party one null dependent back=deal_by_payee\n",
     NULL},
    {"a table that refers to itself",
     "CREATE TABLE node (id int4 PRIMARY KEY, parent_id int4 REFERENCES node);",
     "node -> parent: node one null dependent back=node_by_parent_id on parent_id=id\n"
     "node -> node_by_parent_id: node many back=parent on id=parent_id\n",
     "node -> node:\n"},
    {"a table that refers to itself without a suffix",
     "CREATE TABLE staff (id int4 PRIMARY KEY, reports_to int4 REFERENCES staff);",
     "staff -> staff_2: staff one null dependent back=staff_by_reports_to\n"
     "staff -> staff_by_reports_to: staff many back=staff_2\n",
     "staff -> staff:\n"},
    {"a unique foreign key is one-to-one",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE locker (person_id int4 PRIMARY KEY REFERENCES person);"
     "CREATE TABLE badge (id int4 PRIMARY KEY, person_id int4 UNIQUE REFERENCES person);",
     "person -> locker: locker one null back=person on id=person_id\n"
     "person -> badge: badge one null back=person on id=person_id\n"
     "locker -> person: person one dependent\nbadge -> person: person one null dependent\n",
     NULL},
    {"what is unique only in part, or only at commit, is not one-to-one",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE a (id int4 PRIMARY KEY, person_id int4 REFERENCES person, live bool);"
     "CREATE UNIQUE INDEX ON a (person_id) WHERE live;"
     "CREATE TABLE b (id int4 PRIMARY KEY, person_id int4 REFERENCES person UNIQUE DEFERRABLE);"
     "CREATE TABLE c (id int4 PRIMARY KEY, person_id int4 REFERENCES person, n int4,"
     " UNIQUE (person_id, n));",
     "person -> a: a many\nperson -> b: b many\nperson -> c: c many\n", NULL},
    {"a foreign key of several columns is named after its table",
     "CREATE TABLE head (a int4, b int4, PRIMARY KEY (a, b));"
     "CREATE TABLE tail (id int4 PRIMARY KEY, x int4 NOT NULL, y int4,"
     " FOREIGN KEY (y, x) REFERENCES head (b, a));",
     "tail -> head: head one null dependent back=tail on y=b, x=a\n"
     "head -> tail: tail many back=head on b=y, a=x\n",
     NULL},
    {"many to many through a pure link table",
     "CREATE TABLE product (id int4 PRIMARY KEY); CREATE TABLE supplier (id int4 PRIMARY KEY);"
     "CREATE TABLE supply (product_id int4 REFERENCES product, supplier_id int4 REFERENCES "
     "supplier, PRIMARY KEY (product_id, supplier_id));",
     "product -> supply: supply many back=product\nsupply -> product: product one dependent\n"
     "product -> supplier: supplier many back=product by \"supply\" id=\"product_id\" to "
     "id=\"supplier_id\"\n"
     "supplier -> product: product many back=supplier by \"supply\" id=\"supplier_id\" to "
     "id=\"product_id\"\n",
     NULL},
    {"many to many through composite keys and with more columns",
     "CREATE TABLE l (a int4, b int4, PRIMARY KEY (a, b)); CREATE TABLE r (id int4 PRIMARY KEY);"
     "CREATE TABLE lr (la int4, lb int4, rid int4 REFERENCES r, since date, by int4 REFERENCES r,"
     " PRIMARY KEY (rid, la, lb), FOREIGN KEY (la, lb) REFERENCES l (a, b));",
     "l -> r: r many back=l by \"lr\" a=\"la\" b=\"lb\" to id=\"rid\"\n"
     "r -> l: l many back=r by \"lr\" id=\"rid\" to a=\"la\" b=\"lb\"\n",
     NULL},
    {"many to many of a table with itself",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE follows (fan_id int4 REFERENCES person, star_id int4 REFERENCES person,"
     " PRIMARY KEY (fan_id, star_id));",
     "person -> follows_by_fan_id: follows many back=fan\n"
     "person -> person_by_fan_id: person many back=person_by_star_id by \"follows\" id=\"fan_id\""
     " to id=\"star_id\"\nperson -> person_by_star_id: person many back=person_by_fan_id\n",
     NULL},
    {"two link tables between the same tables",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY);"
     "CREATE TABLE x (a_id int4 REFERENCES a, b_id int4 REFERENCES b, PRIMARY KEY (a_id, b_id));"
     "CREATE TABLE y (a_id int4 REFERENCES a, b_id int4 REFERENCES b, PRIMARY KEY (a_id, b_id));",
     "a -> b_by_x: b many back=a_by_x by \"x\"\na -> b_by_y: b many back=a_by_y by \"y\"\n",
     "a -> b:\n"},
    {"a direct way keeps its name, the many-to-many one yields",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY, a_id int4 "
     "REFERENCES a);"
     "CREATE TABLE x (a_id int4 REFERENCES a, b_id int4 REFERENCES b, PRIMARY KEY (a_id, b_id));",
     "a -> b: b many back=a on id=a_id\na -> b_by_x: b many back=a_by_x by \"x\"\n"
     "b -> a: a one null dependent back=b\nb -> a_by_x: a many back=b_by_x\n",
     NULL},
    {"a key that is more than two foreign keys is no link",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY);"
     "CREATE TABLE x (a_id int4 REFERENCES a, b_id int4 REFERENCES b, n int4,"
     " PRIMARY KEY (a_id, b_id, n));"
     "CREATE TABLE y (a_id int4 REFERENCES a, b_id int4 REFERENCES b, c_id int4 REFERENCES b,"
     " PRIMARY KEY (a_id, b_id, c_id));",
     "x -> a: a one\ny -> a: a one\n", "a -> b\nb -> a\n"},
    {"two constraints that say the same give one navigation",
     "CREATE TABLE a (id int4 PRIMARY KEY);"
     "CREATE TABLE b (id int4 PRIMARY KEY, a_id int4 REFERENCES a, FOREIGN KEY (a_id) REFERENCES "
     "a);",
     "a -> b: b many\nb -> a: a one\n", "a -> b_by\nb -> a_2\n"},
    {"one column that refers to two tables",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (id int4 PRIMARY KEY);"
     "CREATE TABLE c (id int4 PRIMARY KEY, ref_id int4 CONSTRAINT c1 REFERENCES b,"
     " CONSTRAINT c2 FOREIGN KEY (ref_id) REFERENCES a);",
     "c -> ref: b one\nc -> a: a one\na -> c: c many back=a\nb -> c: c many back=ref\n", NULL},
    {"a foreign key to a unique key",
     "CREATE TABLE a (id int4 PRIMARY KEY, code text UNIQUE);"
     "CREATE TABLE b (id int4 PRIMARY KEY, a_code text REFERENCES a (code));",
     "b -> a: a one null dependent back=b on a_code=code\n", NULL},
    {"a table without a key has no navigations, and none lead to it",
     "CREATE TABLE a (id int4 PRIMARY KEY); CREATE TABLE b (a_id int4 REFERENCES a);",
     "set a\nwarning ct.b: left out\n", "a -> \n"},
    {"foreign keys from and to partitioned tables count once",
     "CREATE TABLE p (id int4 PRIMARY KEY) PARTITION BY RANGE (id);"
     "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);"
     "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);"
     "CREATE TABLE q (id int4 PRIMARY KEY, p_id int4 REFERENCES p) PARTITION BY HASH (id);"
     "CREATE TABLE q1 PARTITION OF q FOR VALUES WITH (MODULUS 1, REMAINDER 0);",
     "set p: ct.p partitioned\np -> q: q many back=p\nq -> p: p one null dependent back=q\n",
     "set p1\nset p2\nset q1\np -> q_by\nq -> p_\n"},
    {"a name that would be too long is cut",
     "CREATE TABLE \"an_entity_with_a_name_that_is_as_long_as_postgresql_allows_63aa\""
     " (id int4 PRIMARY KEY, n int4, UNIQUE (id, n));"
     "CREATE TABLE a_table_that_has_another_name_that_is_as_long_as_possible_63xxx"
     " (id int4 PRIMARY KEY, first_column_with_a_name_that_is_quite_long_as_well int4,"
     " second_column_with_a_name_that_is_quite_long_as_well int4,"
     " FOREIGN KEY (id, first_column_with_a_name_that_is_quite_long_as_well) REFERENCES"
     "  \"an_entity_with_a_name_that_is_as_long_as_postgresql_allows_63aa\" (id, n),"
     " FOREIGN KEY (id, second_column_with_a_name_that_is_quite_long_as_well) REFERENCES"
     "  \"an_entity_with_a_name_that_is_as_long_as_postgresql_allows_63aa\" (id, n));",
     "a_table_that_has_another_name_that_is_as_long_as_possible_63xxx -> "
     "an_entity_with_a_name_that_is_as_long_as_postgresql_allows_63aa_by_id_first_column_with_a_name"
     "_that_is_quite_long_as_well: an_entity\n"
     "an_entity_with_a_name_that_is_as_long_as_postgresql_allows_63aa -> "
     "a_table_that_has_another_name_that_is_as_long_as_possible_63xxx_by_id_second_column_with_a_nam"
     "e_that_is_quite_long_as_well: a_table\n",
     NULL},
};

START_TEST(builds_navigations)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

Suite *catalog_navigation_suite(void);
Suite *catalog_navigation_suite(void)
{
    Suite *s = suite_create("catalog_navigation");
    TCase *t = tcase_create("navigations");
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, builds_navigations, 0, ARRAY_SIZE(cases));
    suite_add_tcase(s, t);
    return s;
}
