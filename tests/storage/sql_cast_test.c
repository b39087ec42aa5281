// SPDX-License-Identifier: Apache-2.0
/*
 * cast() and isof() against rows: what becomes of each type, and what is null instead (URL
 * Conventions 5.1.1.10).
 */
#include <check.h>

#include "tests/storage/shop_database.h"

static PGconn *db;

static void open_database(void)
{
    db = shop_database_open();
}

static void close_database(void)
{
    PQfinish(db);
}

/* Conditions that hold whatever the row. */
static const char *const truths[] = {
    "cast(1,Edm.String) eq '1'",
    "cast(-3000000000,Edm.String) eq '-3000000000'",
    "cast(18.00,Edm.String) eq '18.00'",
    "cast(1.5e0,Edm.String) eq '1.5'",
    "cast(INF,Edm.String) eq 'INF' and cast(-INF,Edm.String) eq '-INF'",
    "cast(NaN,Edm.String) eq 'NaN'",
    "cast(true,Edm.String) eq 'true'",
    "cast(2024-02-29,Edm.String) eq '2024-02-29'",
    "cast(2024-02-29T10:00:00.50%2B02:00,Edm.String) eq '2024-02-29T08:00:00.5Z'",
    "cast(2024-02-29T10:00:00Z,Edm.String) eq '2024-02-29T10:00:00Z'",
    "cast(07:59:59.999,Edm.String) eq '07:59:59.999'",
    "cast(duration'P1DT2H3M4.5S',Edm.String) eq 'P1DT2H3M4.5S'",
    "cast(duration'-PT26H',Edm.String) eq '-P1DT2H'",
    "cast(duration'PT0S',Edm.String) eq 'PT0S'",
    "cast(duration'PT90S',Edm.String) eq 'PT1M30S'",
    "cast(01234567-89AB-cdef-0123-456789abcdef,Edm.String) eq "
    "'01234567-89ab-cdef-0123-456789abcdef'",
    "cast(binary'-_8=',Edm.String) eq '-_8='",
    "cast(shop.Color'green',Edm.String) eq 'green'",
    "cast('text',Edm.String) eq 'text'",
    "cast('true',Edm.Boolean)",
    "cast('False',Edm.Boolean) eq false",
    "cast('yes',Edm.Boolean) eq null",
    "cast('12',Edm.Int32) eq 12 and cast('-12',Edm.Int32) eq -12",
    "cast('2147483647',Edm.Int32) eq 2147483647 and cast('2147483648',Edm.Int32) eq null",
    "cast('-2147483648',Edm.Int32) eq -2147483648 and cast('-2147483649',Edm.Int32) eq null",
    "cast('9223372036854775807',Edm.Int64) eq 9223372036854775807",
    "cast('9223372036854775808',Edm.Int64) eq null",
    "cast('255',Edm.Byte) eq 255 and cast('256',Edm.Byte) eq null and cast('-1',Edm.Byte) eq null",
    "cast('-128',Edm.SByte) eq -128 and cast('128',Edm.SByte) eq null",
    "cast('32767',Edm.Int16) eq 32767 and cast('32768',Edm.Int16) eq null",
    "cast('1.5',Edm.Int32) eq null and cast('',Edm.Int32) eq null and cast(' 1',Edm.Int32) eq null",
    "cast('1.5',Edm.Decimal) eq 1.5 and cast('1e2',Edm.Decimal) eq 100",
    "cast('1,5',Edm.Decimal) eq null and cast('.5',Edm.Decimal) eq null",
    "cast('1.5e3',Edm.Double) eq 1500 and cast('1e400',Edm.Double) eq null",
    "cast('1e-400',Edm.Double) eq 0 and cast('INF',Edm.Double) eq INF",
    "cast('1e39',Edm.Single) eq null and cast('0.5',Edm.Single) eq 0.5",
    "cast('Infinity',Edm.Double) eq null",
    "cast('2024-02-29',Edm.Date) eq 2024-02-29",
    "cast('2023-02-29',Edm.Date) eq null and cast('2024-13-01',Edm.Date) eq null",
    "cast('2024-04-31',Edm.Date) eq null and cast('infinity',Edm.Date) eq null",
    "cast('0000-01-01',Edm.Date) eq null",
    "cast('2024-02-29T10:00:00%2B02:00',Edm.DateTimeOffset) eq 2024-02-29T08:00:00Z",
    "cast('2024-02-29T10:00:00',Edm.DateTimeOffset) eq 2024-02-29T10:00:00Z",
    "cast('2023-02-29T10:00:00Z',Edm.DateTimeOffset) eq null",
    "cast('2024-02-29T24:00:00Z',Edm.DateTimeOffset) eq null",
    "cast('now',Edm.DateTimeOffset) eq null",
    "cast('07:59',Edm.TimeOfDay) eq 07:59:00 and cast('24:00:00',Edm.TimeOfDay) eq null",
    "cast('P1DT2H',Edm.Duration) eq duration'PT26H'",
    "cast('-PT15M',Edm.Duration) eq duration'-PT15M'",
    "cast('P',Edm.Duration) eq null and cast('PT',Edm.Duration) eq null",
    "cast('1 day',Edm.Duration) eq null",
    "cast('01234567-89AB-CDEF-0123-456789ABCDEF',Edm.Guid) eq 01234567-89ab-cdef-0123-456789abcdef",
    "cast('x',Edm.Guid) eq null",
    "cast('-_8=',Edm.Binary) eq binary'-_8=' and cast('-_8',Edm.Binary) eq binary'-_8='",
    "cast('-',Edm.Binary) eq null and cast('%2B/8=',Edm.Binary) eq null",
    "cast('',Edm.Binary) eq binary''",
    "cast('green',shop.Color) eq shop.Color'green' and cast('pink',shop.Color) eq null",
    "cast(1.5,Edm.Int32) eq 2 and cast(-1.5,Edm.Int32) eq -2 and cast(1.4e0,Edm.Int32) eq 1",
    "cast(2147483647.4,Edm.Int32) eq 2147483647 and cast(2147483647.5,Edm.Int32) eq null",
    "cast(300,Edm.Byte) eq null and cast(255.4,Edm.Byte) eq 255 and cast(-0.4,Edm.Byte) eq 0",
    "cast(9.3e18,Edm.Int64) eq null and cast(NaN,Edm.Int64) eq null and cast(INF,Edm.Int32) eq null",
    "cast(1,Edm.Double) eq 1e0 and cast(0.1e0,Edm.Decimal) eq 0.1",
    "cast(1e300,Edm.Single) eq null and cast(1e-300,Edm.Single) eq 0",
    "cast(123456789.5,Edm.Double) eq 123456789.5e0",
    "cast(shop.Color'blue',Edm.Int32) eq 2 and cast(shop.Color'red',Edm.Byte) eq 0",
    "cast(1,shop.Color) eq shop.Color'green' and cast(3,shop.Color) eq null",
    "cast(-1,shop.Color) eq null and cast(3000000000,shop.Color) eq null",
    "cast(null,Edm.Int32) eq null",
    "cast(2024-02-29,Edm.Int32) eq null",
    "cast(true,Edm.Int32) eq null",
    "cast('1','Edm.Int32') eq 1",
    "cast(cast(cast(cast('12',Edm.Int32),Edm.String),Edm.Double),Edm.String) eq '12'",
    "isof(1,Edm.Int32) and isof(1,Edm.String) and isof(null,Edm.Int32)",
    "isof('12',Edm.Int32) and not isof('x',Edm.Int32)",
    "isof(300,Edm.Int16) and not isof(300,Edm.Byte)",
    "not isof(true,Edm.Int32) and not isof('a',shop.Address)",
    "isof(shop.Product) and isof($it,shop.Product) and not isof(shop.Category)",
};

START_TEST(holds_everywhere)
{
    shop_database_check_filter(db, "Products", truths[_i], "1,2,3,4,5,6,7,8,9,10");
}
END_TEST

static const struct row {
    const char *set;
    const char *filter;
    const char *ids;
} rows[] = {
    {"Products", "startswith(cast(Price,Edm.String),'18')", "1"},
    {"Products", "cast(Price,Edm.String) eq null", "7"},
    {"Products", "cast(Price,Edm.Int32) eq 3", "9"},
    {"Products", "cast(Color,Edm.Int32) eq 0", "3,5"},
    {"Products", "cast(Name,Edm.Int32) eq null and ID lt 3", "1,2"},
    {"Products", "not isof(Name,Edm.Int32)", "1,2,3,4,5,6,7,8,9,10"},
    {"Products", "isof(Category,shop.Category)", "1,2,3,4,5,6,7"},
    {"Products", "not isof(Category,shop.Category)", "8,9,10"},
    {"Products", "cast(Tags,Collection(Edm.Int32))/any(t:t ne null)", ""},
    {"Products", "$this/ID eq 4", "4"},
    {"Orders", "cast(Entered,Edm.String) eq '2020-07-04T00:00:00Z'", "10248"},
    {"Orders", "cast(Handling,Edm.String) eq '-PT15M'", "10251"},
    {"Orders", "cast(Handling,Edm.String) eq 'P3DT4H5M6.789S'", "10252"},
    {"Employees", "startswith(cast(Badge,Edm.String),'01234567-89') and ID eq 1", "1"},
};

START_TEST(casts_columns)
{
    shop_database_check_filter(db, rows[_i].set, rows[_i].filter, rows[_i].ids);
}
END_TEST

Suite *sql_cast_suite(void);

Suite *sql_cast_suite(void)
{
    Suite *suite = suite_create("sql_cast");
    TCase *tc = tcase_create("sql_cast");
    tcase_set_timeout(tc, 60);
    tcase_add_unchecked_fixture(tc, open_database, close_database);
    tcase_add_loop_test(tc, holds_everywhere, 0, (int)(sizeof(truths) / sizeof(truths[0])));
    tcase_add_loop_test(tc, casts_columns, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    suite_add_tcase(suite, tc);
    return suite;
}
