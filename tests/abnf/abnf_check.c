// SPDX-License-Identifier: Apache-2.0
/*
 * abnf_check - runs the cases of a grammar test suite against our parsers.
 *
 * Usage: abnf-check FILE.tsv [DIFFERENCES.tsv]
 *
 * DIFFERENCES names cases whose outcome is another one here, a line each: input, reason. One that
 * agrees after all fails the run: it is to be taken off.
 *
 * A line is a case: rule, expect (ok or fail), fail_pos, input, name, suite, group, tokens; the
 * first line names the columns. Escapes in input: \\ \t \r \n \xHH. Each rule of the OASIS ABNF
 * that concerns URLs, headers and preferences is fed to the parser that reads it; what we only
 * write (context URLs), and headers of batches and of asynchronous answers, are skipped. Prints the mismatches, then `N passed, N failed, N skipped`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "odata/arena.h"
#include "odata/filter_parse.h"
#include "odata/lexer.h"
#include "odata/limits.h"
#include "odata/literal.h"
#include "odata/odata_version.h"
#include "odata/path_parse.h"
#include "odata/percent.h"
#include "odata/prefer.h"
#include "odata/query_parse.h"

enum {
    COLUMNS = 8,
};

enum column {
    COLUMN_RULE,
    COLUMN_EXPECT,
    COLUMN_FAIL_POS,
    COLUMN_INPUT,
    COLUMN_NAME,
    COLUMN_SUITE,
    COLUMN_GROUP,
};

/* How the input of a rule is read. */
enum reader {
    READ_EXPRESSION,
    READ_LAMBDA,    /* any(...) alone: needs a path before it */
    READ_LITERAL,   /* in a URL: decoded, with quotes and prefix */
    READ_PRIMITIVE, /* the same of any kind */
    READ_VALUE,     /* in a payload: as it stands, without quotes */
    READ_BOOLEAN_VALUE,
    READ_ENUM_VALUE,
    READ_ANY_VALUE,
    READ_QUERY,
    READ_SEARCH,
    READ_PATH,
    READ_PARAMETER,
    READ_RELATIVE,
    READ_ABSOLUTE,
    READ_IDENTIFIER,
    READ_PREFERENCE,
    READ_VERSION, /* OData-Version, OData-MaxVersion */
};

static const struct rule {
    const char *name;
    enum reader reader;
    enum literal_kind kind;
} rules[] = {
    {"commonExpr", READ_EXPRESSION, 0},
    {"boolCommonExpr", READ_EXPRESSION, 0},
    {"boolcommonExpr", READ_EXPRESSION, 0},
    {"firstMemberExpr", READ_EXPRESSION, 0},
    {"propertyPathExpr", READ_EXPRESSION, 0},
    {"notExpr", READ_EXPRESSION, 0},
    {"isofExpr", READ_EXPRESSION, 0},
    {"anyExpr", READ_LAMBDA, 0},
    {"queryOptions", READ_QUERY, 0},
    {"systemQueryOption", READ_QUERY, 0},
    {"customQueryOption", READ_QUERY, 0},
    {"filter", READ_QUERY, 0},
    {"expand", READ_QUERY, 0},
    {"select", READ_QUERY, 0},
    {"orderby", READ_QUERY, 0},
    {"orderBy", READ_QUERY, 0},
    {"compute", READ_QUERY, 0},
    {"search", READ_QUERY, 0},
    {"skiptoken", READ_QUERY, 0},
    {"searchExpr", READ_SEARCH, 0},
    {"resourcePath", READ_PATH, 0},
    {"functionParameter", READ_PARAMETER, 0},
    {"odataRelativeUri", READ_RELATIVE, 0},
    {"odataUri", READ_ABSOLUTE, 0},
    {"odataIdentifier", READ_IDENTIFIER, 0},
    {"prefer", READ_PREFERENCE, 0},
    {"preference", READ_PREFERENCE, 0},
    {"includeAnnotationsPreference", READ_PREFERENCE, 0},
    {"maxpagesizePreference", READ_PREFERENCE, 0},
    {"header", READ_VERSION, 0},
    {"entitySetName", READ_IDENTIFIER, 0},
    {"null", READ_LITERAL, LITERAL_NULL},
    {"boolean", READ_LITERAL, LITERAL_BOOLEAN},
    {"booleanValue", READ_BOOLEAN_VALUE, 0},
    {"primitiveLiteral", READ_PRIMITIVE, 0},
    {"stringLiteral", READ_LITERAL, LITERAL_STRING},
    {"binaryLiteral", READ_LITERAL, LITERAL_BINARY},
    {"durationLiteral", READ_LITERAL, LITERAL_DURATION},
    {"decimalLiteral", READ_LITERAL, LITERAL_DECIMAL},
    {"doubleLiteral", READ_LITERAL, LITERAL_DOUBLE},
    {"timeOfDayLiteral", READ_LITERAL, LITERAL_TIMEOFDAY},
    {"enumLiteral", READ_LITERAL, LITERAL_ENUM},
    {"enumValue", READ_ENUM_VALUE, 0},
    {"primitiveValue", READ_ANY_VALUE, 0},
    {"guid", READ_VALUE, LITERAL_GUID},
    {"date", READ_VALUE, LITERAL_DATE},
    {"dateTimeOffsetValue", READ_VALUE, LITERAL_DATETIMEOFFSET},
    {"timeOfDayValue", READ_VALUE, LITERAL_TIMEOFDAY},
    {"durationValue", READ_VALUE, LITERAL_DURATION},
    {"decimalValue", READ_VALUE, LITERAL_DECIMAL},
    {"doubleValue", READ_VALUE, LITERAL_DOUBLE},
    {"byteValue", READ_VALUE, LITERAL_INTEGER},
    {"sbyteValue", READ_VALUE, LITERAL_INTEGER},
    {"int16Value", READ_VALUE, LITERAL_INTEGER},
    {"int32Value", READ_VALUE, LITERAL_INTEGER},
    {"int64Value", READ_VALUE, LITERAL_INTEGER},
    {"geographyCollection", READ_LITERAL, LITERAL_GEOGRAPHY},
    {"geographyMultiLineString", READ_LITERAL, LITERAL_GEOGRAPHY},
    {"geographyMultiPoint", READ_LITERAL, LITERAL_GEOGRAPHY},
    {"geographyPoint", READ_LITERAL, LITERAL_GEOGRAPHY},
    {"geometryCollection", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryLineString", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryMultiLineString", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryMultiPoint", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryMultiPolygon", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryPoint", READ_LITERAL, LITERAL_GEOMETRY},
    {"geometryPolygon", READ_LITERAL, LITERAL_GEOMETRY},
};

/* The service roots of the suites' absolute URLs, behind the host. */
static const char *const roots[] = {"OData/OData.svc/", "service/", "MyService/"};

struct tally {
    size_t passed;
    size_t failed;
    size_t skipped;
    size_t expected; /* to differ */
    size_t unmapped; /* rules without a row above */
};

enum {
    MOST_DIFFERENCES = 100,
};

struct differences {
    char *inputs[MOST_DIFFERENCES];
    bool met[MOST_DIFFERENCES];
    size_t count;
};

static bool read_expression(struct arena *a, struct str input, const char *prefix,
                            struct expr **out, struct odata_error *err)
{
    struct str decoded;
    struct str text;
    return percent_decode_value(a, input, &decoded, err) &&
           arena_format(a, &text, "%s%.*s", prefix, STR_ARG(decoded)) &&
           filter_parse(a, text, LIMIT_EXPR_DEPTH, out, err);
}

static bool kind_matches(enum literal_kind wanted, enum literal_kind found)
{
    switch (wanted) {
    case LITERAL_DECIMAL:
    case LITERAL_DOUBLE:
        return found == LITERAL_INTEGER || found == LITERAL_DECIMAL || found == LITERAL_DOUBLE;
    case LITERAL_ENUM: /* 4.01: the type may be left out */
        return found == LITERAL_ENUM || found == LITERAL_STRING;
    case LITERAL_NULL:
    case LITERAL_BOOLEAN:
    case LITERAL_INTEGER:
    case LITERAL_STRING:
    case LITERAL_GUID:
    case LITERAL_DATE:
    case LITERAL_DATETIMEOFFSET:
    case LITERAL_TIMEOFDAY:
    case LITERAL_DURATION:
    case LITERAL_BINARY:
    case LITERAL_GEOGRAPHY:
    case LITERAL_GEOMETRY:
        return found == wanted;
    }
    return false;
}

static bool read_literal(struct arena *a, struct str input, enum literal_kind kind,
                         struct odata_error *err)
{
    struct expr *e;
    return read_expression(a, input, "", &e, err) && e->kind == EXPR_LITERAL &&
           kind_matches(kind, e->literal);
}

static bool read_any_value(struct str input)
{
    static const enum literal_kind kinds[] = {
        LITERAL_GUID,     LITERAL_DATE,    LITERAL_DATETIMEOFFSET, LITERAL_TIMEOFDAY,
        LITERAL_DURATION, LITERAL_DECIMAL, LITERAL_BINARY,         LITERAL_GEOGRAPHY,
    };
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (literal_is(kinds[i], input)) {
            return true;
        }
    }
    return literal_is_enum_value(input);
}

static bool read_query(struct arena *a, struct str input, struct odata_error *err)
{
    static const struct query_limits limits = {LIMIT_EXPR_DEPTH, LIMIT_EXPAND_DEPTH};
    struct query q;
    return query_parse(a, input, &limits, &q, err);
}

static bool read_formatted(struct arena *a, const char *before, struct str input, const char *after,
                           struct str *out)
{
    return arena_format(a, out, "%s%.*s%s", before, STR_ARG(input), after);
}

static bool read_relative(struct arena *a, struct str input, struct odata_error *err)
{
    /* A fragment is the client's (context URLs); it never reaches a server. */
    if (str_starts_with(input, STR("$metadata"))) {
        input = str_slice(input, 0, str_find(input, '#', 0));
    }
    size_t mark = str_find(input, '?', 0);
    struct resource_path path;
    return path_parse(a, str_slice(input, 0, mark), &path, err) &&
           read_query(a, str_from_offset(input, mark + 1), err);
}

static bool read_absolute(struct arena *a, struct str input, struct odata_error *err)
{
    size_t colon = str_find(input, ':', 0);
    size_t slash = str_find(input, '/', colon + 3);
    struct str rest = str_from_offset(input, slash + 1);
    for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
        if (str_starts_with(rest, str_from(roots[i]))) {
            rest = str_from_offset(rest, strlen(roots[i]));
        }
    }
    return read_relative(a, rest, err);
}

/* Each preference of the text was understood: what it asks for is there. */
static bool read_preference(struct str input)
{
    struct preferences p;
    if (str_starts_with(input, STR("Prefer:"))) {
        input = str_trim(str_from_offset(input, str_from("Prefer:").len));
    }
    prefer_parse(input, &p);
    const struct {
        const char *name;
        bool understood;
    } wishes[] = {
        {"maxpagesize", p.max_page_size > 0},
        {"allow-entityreferences", p.allow_entity_references},
        {"callback", p.callback_url.len > 0},
        {"continue-on-error", p.continue_on_error || str_ends_with(input, STR("=false"))},
        {"include-annotations", p.include_annotations.len > 0},
        {"omit-values", p.omit_values != PREFER_OMIT_NOTHING},
        {"return", p.wanted_return != PREFER_RETURN_ANY},
        {"wait", p.wait_s > 0 || str_ends_with(input, STR("0"))},
    };
    bool any = false;
    for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
        bool named = memmem(input.ptr, input.len, wishes[i].name, strlen(wishes[i].name)) != NULL;
        any = any || named;
        if (named && !wishes[i].understood) {
            return false;
        }
    }
    return any;
}

static bool read_version(struct str input, struct odata_error *err)
{
    enum odata_version version;
    size_t colon = str_find(input, ':', 0);
    struct str name = str_slice(input, 0, colon);
    struct str value = str_trim(str_from_offset(input, colon + 1));
    bool most = str_ieq(name, STR("odata-maxversion"));
    return odata_version_negotiate(most ? value : STR(""), most ? STR("") : value, &version, err);
}

static bool run(struct arena *a, const struct rule *rule, struct str input, struct odata_error *err)
{
    struct resource_path path;
    struct expr *e;
    struct str text;
    switch (rule->reader) {
    case READ_EXPRESSION:
        return read_expression(a, input, "", &e, err);
    case READ_LAMBDA:
        return read_expression(a, input, "Items/", &e, err);
    case READ_LITERAL:
        return read_literal(a, input, rule->kind, err);
    case READ_PRIMITIVE:
        return read_expression(a, input, "", &e, err) && e->kind == EXPR_LITERAL;
    case READ_VALUE:
        return literal_is(rule->kind, input);
    case READ_BOOLEAN_VALUE:
        return str_eq(input, STR("true")) || str_eq(input, STR("false"));
    case READ_ENUM_VALUE:
        return literal_is_enum_value(input);
    case READ_ANY_VALUE:
        return read_any_value(input);
    case READ_QUERY:
        return read_query(a, input, err);
    case READ_SEARCH:
        return read_formatted(a, "$search=", input, "", &text) && read_query(a, text, err);
    case READ_PATH:
        return path_parse(a, input, &path, err);
    case READ_PARAMETER:
        return read_formatted(a, "F(", input, ")", &text) && path_parse(a, text, &path, err);
    case READ_RELATIVE:
        return read_relative(a, input, err);
    case READ_ABSOLUTE:
        return read_absolute(a, input, err);
    case READ_IDENTIFIER:
        return lexer_is_identifier(input);
    case READ_PREFERENCE:
        return read_preference(input);
    case READ_VERSION:
        return read_version(input, err);
    }
    return false;
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? 0 : (int)((at - digits) % 16);
}

/* What stands behind a backslash. */
static char escaped(char c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'n':
        return '\n';
    default:
        return c;
    }
}

/* Resolves the escapes in place. */
static struct str unescape(char *text)
{
    size_t len = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        char c = text[i];
        if (c == '\\' && text[i + 1] != '\0') {
            c = escaped(text[++i]);
            if (text[i] == 'x' && text[i + 1] != '\0' && text[i + 2] != '\0') {
                c = (char)(hex(text[i + 1]) * 16 + hex(text[i + 2]));
                i += 2;
            }
        }
        text[len++] = c;
    }
    return (struct str){text, len};
}

static const struct rule *find_rule(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
        if (strcmp(rules[i].name, name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}

/* We write it, or it belongs to what we do not have. */
static bool is_not_read(char *const columns[COLUMNS])
{
    static const char *const headers[] = {"AsyncResult", "content-id", "odata-isolation",
                                          "isolation"};
    if (strcmp(columns[COLUMN_GROUP], "context-url") == 0 ||
        strcmp(columns[COLUMN_RULE], "request-id") == 0) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
        size_t len = strlen(headers[i]);
        if (strcmp(columns[COLUMN_RULE], "header") == 0 &&
            strncmp(columns[COLUMN_INPUT], headers[i], len) == 0 &&
            columns[COLUMN_INPUT][len] == ':') {
            return true; /* isolation is read by server/prepare.c: cases/negotiation */
        }
    }
    return false;
}

/* Takes the input off the list of differences; false when it is not there. */
static bool is_expected(struct differences *d, const char *input)
{
    for (size_t i = 0; i < d->count; i++) {
        if (strcmp(d->inputs[i], input) == 0) {
            d->met[i] = true;
            return true;
        }
    }
    return false;
}

static void run_case(char *const columns[COLUMNS], struct differences *d, struct tally *tally)
{
    const struct rule *rule = find_rule(columns[COLUMN_RULE]);
    if (is_not_read(columns)) {
        tally->skipped++;
        return;
    }
    if (rule == NULL) {
        printf("unmapped rule %s\n", columns[COLUMN_RULE]);
        tally->unmapped++;
        return;
    }
    struct arena a;
    struct odata_error err = {0};
    arena_init(&a, LIMIT_REQUEST_ARENA_BYTES);
    bool wanted = strcmp(columns[COLUMN_EXPECT], "ok") == 0;
    char *shown = strdup(columns[COLUMN_INPUT]);
    bool got = run(&a, rule, unescape(columns[COLUMN_INPUT]), &err);
    bool agrees = got == wanted && err.http_status != 501;
    if (agrees) {
        tally->passed++;
    } else if (is_expected(d, shown)) {
        tally->expected++;
    } else {
        tally->failed++;
        printf("%s %s: %s\n    %s%s\n    %s%s\n", rule->name, wanted ? "refused" : "accepted",
               shown, columns[COLUMN_NAME], wanted ? "" : "; must fail at ",
               wanted ? err.message : columns[COLUMN_FAIL_POS],
               err.http_status == 501 ? " (501)" : "");
    }
    free(shown);
    arena_fini(&a);
}

/* Splits a line at its tabs; missing columns are empty. */
static void split(char *line, char *columns[COLUMNS])
{
    static char nothing[1];
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = line == NULL ? nothing : line;
        char *tab = line == NULL ? NULL : strchr(line, '\t');
        line = tab == NULL ? NULL : tab + 1;
        if (tab != NULL) {
            *tab = '\0';
        }
    }
}

/* The first column of each line that is no comment. */
static bool read_differences(const char *path, struct differences *d)
{
    char *line = NULL;
    size_t line_bytes = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    while (getline(&line, &line_bytes, file) > 0 && d->count < MOST_DIFFERENCES) {
        char *columns[COLUMNS];
        split(line, columns);
        if (columns[0][0] != '\0' && strncmp(columns[0], "# ", 2) != 0) {
            d->inputs[d->count] = strdup(columns[0]);
            d->count += d->inputs[d->count] != NULL;
        }
    }
    free(line);
    fclose(file);
    return true;
}

/* Prints the differences that are none any more; their number. */
static size_t end_differences(struct differences *d)
{
    size_t stale = 0;
    for (size_t i = 0; i < d->count; i++) {
        if (!d->met[i]) {
            printf("differs no longer: %s\n", d->inputs[i]);
            stale++;
        }
        free(d->inputs[i]);
    }
    return stale;
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t line_bytes = 0;
    struct tally tally = {0};
    struct differences differences = {0};
    FILE *file = argc == 2 || argc == 3 ? fopen(argv[1], "r") : NULL;
    if (file == NULL || (argc == 3 && !read_differences(argv[2], &differences))) {
        fprintf(stderr, "usage: abnf-check FILE.tsv [DIFFERENCES.tsv]\n");
        return EXIT_FAILURE;
    }
    bool header = true;
    while (getline(&line, &line_bytes, file) > 0) {
        char *columns[COLUMNS];
        split(line, columns);
        if (!header) {
            run_case(columns, &differences, &tally);
        }
        header = false;
    }
    free(line);
    fclose(file);
    size_t stale = end_differences(&differences);
    printf("%zu passed, %zu failed, %zu differ as expected, %zu are not read here, %zu of unmapped "
           "rules\n",
           tally.passed, tally.failed, tally.expected, tally.skipped, tally.unmapped);
    return tally.failed + tally.unmapped + stale == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
