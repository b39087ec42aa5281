// SPDX-License-Identifier: Apache-2.0
/*
 * limits - every bound that is not a setting, with its reason.
 */
#ifndef ODATA_LIMITS_H
#define ODATA_LIMITS_H

enum {
    /* Levels of objects inside a row: the feed writer's stack. max-expand-depth stays below it. */
    LIMIT_EXPAND_DEPTH = 32,
    /* Nested composites and arrays in one value. */
    LIMIT_VALUE_DEPTH = 32,
    /* Parentheses, operators and calls inside each other; our parsers recurse so deep. */
    LIMIT_EXPR_DEPTH = 100,
    /* Levels of nodes in an expression tree: operators in a row count too (a add b add ...), except
       and/or, which are balanced. Bounds the stack of all that recurses over the tree. */
    LIMIT_EXPR_HEIGHT = 512,
    /* Set transformations of a request, nested ones included: each can be a SELECT of its own. */
    LIMIT_TRANSFORMATIONS = 64,
    /* Kinds of rows that one answer mixes (concat, rollup): bits of a mask. */
    LIMIT_STRUCTURES = 64,
    /* Segments of a resource path, and of a path in an expression. */
    LIMIT_PATH_SEGMENTS = 64,
    /* Lists of options inside each other, of $select and $count too, which nest without $expand. */
    LIMIT_OPTION_DEPTH = 64,
    /* Query options of a request. */
    LIMIT_QUERY_OPTIONS = 128,
    /* A pattern of matchesPattern: its bytes, its groups inside each other, and its size with all
       repetitions written out. The worst of that size, (a*b*c*d*){43}, takes PostgreSQL a fifth of a
       second to compile, and three times as many repetitions half a minute. */
    LIMIT_PATTERN_BYTES = 1000,
    LIMIT_PATTERN_DEPTH = 50,
    LIMIT_PATTERN_SIZE = 400,
    /* What one request may allocate for its syntax tree, plan and SQL. */
    LIMIT_REQUEST_ARENA_BYTES = 8 * 1024 * 1024,
    /* What a model may take: 10,000 tables of 100 columns need about 200 MB. */
    LIMIT_MODEL_ARENA_MIB = 2048,
    /* Items of $orderby, and so fields of a skip token besides the key. */
    LIMIT_ORDERBY_ITEMS = 16,
    /* Words and phrases of a $search: each is a parameter, and one more look into the index. */
    LIMIT_SEARCH_TERMS = 32,
    /* Parameters of one statement; PostgreSQL's protocol allows 65535. */
    LIMIT_SQL_PARAMS = 60000,
    /* A skip token, before base64url: the order values and the key of one row. */
    LIMIT_SKIP_TOKEN_BYTES = 8 * 1024,
    /* Sets of one $crossjoin. PostgreSQL tries all orders of so many joins (join_collapse_limit). */
    LIMIT_CROSSJOIN_SETS = 8,
};

#endif
