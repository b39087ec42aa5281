// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "odata/compiler.h"
#include "tests/storage/catalog_fixture.h"

#define ANIMAL "CREATE TABLE animal (id int4 PRIMARY KEY, name text NOT NULL, born date);"

static const struct catalog_case cases[] = {
    {"a table that inherits is a derived type with the key of its base",
     ANIMAL "CREATE TABLE dog (breed text) INHERITS (animal);",
     "set dog: ct.dog table\ndog key id\ndog type 1..1 of 2 base=animal\n"
     "animal type 0..1 of 2\ndog.name: String notnull cast text\n"
     "dog.breed: String null slot=0 cast text\n"
     "warning ct.dog: its key is that of 'animal', and no unique index keeps it here\n"
     "warning ct.animal: tables inherit from it and their rows are shown with it\n",
     "animal type 0..1 of 2 strays\nwarning ct.dog: left out\n"},
    {"a unique index of its own keeps its key",
     ANIMAL "CREATE TABLE dog (breed text, PRIMARY KEY (id)) INHERITS (animal);", "dog key id\n",
     "warning ct.dog\n"},
    {"another primary key is an alternate one",
     ANIMAL "CREATE TABLE dog (tag int4 PRIMARY KEY) INHERITS (animal);",
     "dog key id\ndog alternate tag\n", NULL},
    {"there may be several levels, and each type is followed by those derived from it",
     ANIMAL "CREATE TABLE dog (breed text) INHERITS (animal);"
            "CREATE TABLE cat (lives int4) INHERITS (animal);"
            "CREATE TABLE puppy (toy text, age int4) INHERITS (dog);",
     "animal type 0..3 of 4\ncat type 1..1 of 4 base=animal\ndog type 2..3 of 4 base=animal\n"
     "puppy type 3..3 of 4 base=dog\n"
     "puppy.breed: String null slot=1 cast text\npuppy.toy: String null slot=2 cast text\n"
     "puppy.age: Int32 null slot=0 cast int4\ncat.lives: Int32 null slot=0 cast int4\n",
     NULL},
    {"columns of one name in two derived types have nothing to do with each other",
     ANIMAL "CREATE TABLE dog (size int4) INHERITS (animal);"
            "CREATE TABLE cat (size text) INHERITS (animal);",
     "dog.size: Int32 null slot=1\ncat.size: String null slot=0\n", NULL},
    {"a domain and its base type are two types, and so are two collations",
     ANIMAL "CREATE DOMAIN label AS text;"
            "CREATE TABLE dog (a text) INHERITS (animal);"
            "CREATE TABLE cat (a label) INHERITS (animal);"
            "CREATE TABLE emu (a text COLLATE \"C\") INHERITS (animal);",
     "cat.a: String null slot=0\ndog.a: String null slot=1\nemu.a: String null slot=2\n", NULL},
    {"a column that both have is one property",
     ANIMAL "CREATE TABLE dog (name text, born date) INHERITS (animal);",
     "dog.name: String notnull", "dog.name_2\ndog.born_2\n"},
    {"names of its own yield to those of the base",
     "CREATE TABLE a (id int4 PRIMARY KEY, \"x y\" int4);"
     "CREATE TABLE b (x_y text, \"x+y\" text) INHERITS (a);",
     "b.x_y: Int32 null column \"x y\"\nb.x_y_2: String null column \"x_y\"\n"
     "b.x_y_3: String null column \"x+y\"\n",
     NULL},
    {"of several bases the first one counts",
     ANIMAL "CREATE TABLE toy (no int4 PRIMARY KEY, price numeric(6,2));"
            "CREATE TABLE robot (volt int4) INHERITS (animal, toy);",
     "robot type 1..1 of 2 base=animal\nrobot.no: Int32 notnull slot\n"
     "warning ct.robot: it inherits from several tables and its type is derived from that of 'animal'\n",
     "toy type\n"},
    {"a base without a key is none: the next one is",
     "CREATE TABLE note (txt text);" ANIMAL
     "CREATE TABLE dog (breed text) INHERITS (note, animal);",
     "dog type 1..1 of 2 base=animal\n", "warning ct.dog: it inherits from several\n"},
    {"without a base that has a key the table is what it was",
     "CREATE TABLE note (txt text); CREATE TABLE letter (no int4 PRIMARY KEY) INHERITS (note);",
     "letter key no\nletter.txt: String\n", "letter type\n"},
    {"tables that are not exposed are looked through, and their rows are strays",
     ANIMAL "DROP SCHEMA IF EXISTS ct_hidden CASCADE; CREATE SCHEMA ct_hidden;"
            "CREATE TABLE ct_hidden.mammal (legs int4) INHERITS (animal);"
            "CREATE TABLE dog (breed text) INHERITS (ct_hidden.mammal);",
     "animal type 0..1 of 2 strays\ndog type 1..1 of 2 base=animal\ndog.legs: Int32 null slot\n",
     NULL},
    {"partitions are no types",
     "CREATE TABLE m (id int4 PRIMARY KEY) PARTITION BY RANGE (id);"
     "CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (1) TO (9);",
     "set m: ct.m partitioned\n", "m type\nset m1\n"},
    {"navigations are inherited",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE animal (id int4 PRIMARY KEY, owner_id int4 REFERENCES person);"
     "CREATE TABLE dog (vet_id int4 REFERENCES person) INHERITS (animal);"
     "CREATE TABLE shot (id int4 PRIMARY KEY, animal_id int4 REFERENCES animal);",
     "animal -> owner: person one null dependent back=animal on owner_id=id\n"
     "dog -> owner: person one null dependent back=animal on owner_id=id\n"
     "dog -> shot: shot many back=animal on id=animal_id\n"
     "dog -> vet: person one null dependent back=dog on vet_id=id\n"
     "person -> animal: animal many back=owner\nperson -> dog: dog many back=vet\n",
     "animal -> vet\n"},
    {"a foreign key that is declared again is that of the base",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE animal (id int4 PRIMARY KEY, owner_id int4 REFERENCES person);"
     "CREATE TABLE dog (FOREIGN KEY (owner_id) REFERENCES person) INHERITS (animal);",
     "dog -> owner: person one null dependent back=animal\n", "dog -> person\nperson -> dog\n"},
    {"a navigation yields to a property of a derived type",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE animal (id int4 PRIMARY KEY, owner_id int4 REFERENCES person);"
     "CREATE TABLE dog (owner text) INHERITS (animal);",
     "animal -> person: person one null dependent\ndog -> person: person one\ndog.owner: String\n",
     "animal -> owner\n"},
    {"what is unique in each table alone is many",
     "CREATE TABLE person (id int4 PRIMARY KEY);"
     "CREATE TABLE pet (id int4 PRIMARY KEY, owner_id int4 UNIQUE REFERENCES person);"
     "CREATE TABLE dog (breed text) INHERITS (pet);",
     "person -> pet: pet many\n", NULL},
};

START_TEST(reads_inheritance)
{
    catalog_fixture_check(&cases[_i]);
}
END_TEST

static struct str hidden_name[] = {{STR_INIT("name")}};
static struct str key_breed[] = {{STR_INIT("breed")}};

/* What an override says about one table changes what is derived. */
static const struct override_row {
    const char *name;
    struct catalog_override override;
    const char *wanted;
    const char *unwanted;
} overrides[] = {
    {"what the base hides is hidden in derived types",
     {.relation = {STR_INIT("ct.animal")}, .hide = hidden_name, .hide_count = 1},
     "dog type 1..1 of 2 base=animal\n",
     "dog.name\nanimal.name\n"},
    {"who hides what the base shows is not derived",
     {.relation = {STR_INIT("ct.dog")}, .hide = hidden_name, .hide_count = 1},
     "animal.name\nwarning ct.dog: its type is not derived from that of 'animal', which shows the"
     " column 'name'\n",
     "dog.name\ndog type\n"},
    {"a key of one's own makes a type of its own",
     {.relation = {STR_INIT("ct.dog")}, .key = key_breed, .key_count = 1},
     "dog key breed\ndog.name\n",
     "dog type\nanimal type\n"},
};

START_TEST(reads_overrides)
{
    const struct override_row *row = &overrides[_i];
    struct catalog_options options = catalog_fixture_options();
    struct catalog_override override = row->override;
    struct odata_error err = {0};
    struct model *m = NULL;
    const struct str empty = STR("");
    override.name = empty;
    override.search_config = empty;
    options.overrides = &override;
    options.override_count = 1;
    catalog_fixture_reset();
    catalog_fixture_sql(
        ANIMAL "CREATE TABLE dog (breed text NOT NULL, PRIMARY KEY (id)) INHERITS (animal);");
    ck_assert_msg(catalog_load(&options, &m, &err), "%s: %s %s", row->name, err.message,
                  err.internal);
    catalog_fixture_check_model(row->name, m, row->wanted, row->unwanted);
    model_release(m);
}
END_TEST

Suite *catalog_inheritance_suite(void);
Suite *catalog_inheritance_suite(void)
{
    Suite *s = suite_create("catalog_inheritance");
    TCase *tc = tcase_create("model");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, reads_inheritance, 0, ARRAY_SIZE(cases));
    tcase_add_loop_test(tc, reads_overrides, 0, ARRAY_SIZE(overrides));
    suite_add_tcase(s, tc);
    return s;
}
