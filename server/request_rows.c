// SPDX-License-Identifier: Apache-2.0
#include "server/request_rows.h"

#include "server/explain.h"
#include "server/links.h"
#include "storage/pg_value.h"
#include "storage/sql_read.h"
#include "storage/value_type.h"

void request_rows_close(struct request_rows *rows)
{
    feed_writer_free(rows->writer);
    rows->writer = NULL;
    db_read_close(rows->read);
    rows->read = NULL;
}

static bool make_writer(struct request_rows *rows, const struct rows_options *o,
                        const struct feed_spec *spec, struct odata_error *err)
{
    row_source_init_empty(&rows->no_rows);
    struct row_source *source = rows->read == NULL ? &rows->no_rows : db_read_source(rows->read);
    rows->writer = feed_writer_new(spec, source, &o->x->out);
    return rows->writer != NULL || odata_error_out_of_memory(err);
}

static bool open_read(struct request_rows *rows, const struct rows_options *o,
                      const struct sql_read *sql, struct odata_error *err)
{
    return db_read_open(o->env->pool, sql, &o->read, &rows->read, err);
}

static bool open_writer(struct request_rows *rows, const struct rows_options *o,
                        const struct sql_read *sql, const struct csv_table *table,
                        struct odata_error *err)
{
    static const enum feed_kind kinds[] = {
        [PLAN_COLLECTION] = FEED_COLLECTION, [PLAN_ENTITY] = FEED_ENTITY,
        [PLAN_PROPERTY] = FEED_PROPERTY,     [PLAN_RAW_VALUE] = FEED_RAW_VALUE,
        [PLAN_COUNT] = FEED_COUNT,
    };
    const struct prepared *p = o->p;
    const struct plan *plan = p->plan;
    const struct read *read = plan->read;
    struct arena *a = &o->x->arena;
    struct feed_spec spec = {
        .kind = kinds[plan->kind],
        .shape = sql->shape,
        .format = p->format,
        .context = STR(""),
        .has_count = read->has_count,
        .page_rows = read->page_rows,
        .max_token_bytes = p->token_room,
        .token_fields = sql->token_fields,
        .token_field_count = sql->token_field_count,
        .token_check = read->token_check,
        .rows_before = read->rows_before,
        .table = table,
    };
    if (plan->kind == PLAN_RAW_VALUE) {
        spec.raw = pg_value_raw(&read->value->type, read->value->pg);
    }
    if (plan->kind == PLAN_PROPERTY && p->format.metadata == METADATA_FULL &&
        !value_type_name(a, &read->value->type, &p->format, &spec.type)) {
        return odata_error_too_complex(err);
    }
    if (p->format.metadata != METADATA_NONE &&
        !links_context_url(a, p->root, plan->context_fragment, &spec.context, err)) {
        return false;
    }
    return prepare_next_url(o->x, p, &spec.next_url, err) && make_writer(rows, o, &spec, err);
}

/* The statements and a plan instead of the rows. */
static bool open_explain(struct request_rows *rows, const struct rows_options *o,
                         const struct sql_read *sql, struct odata_error *err)
{
    const struct sql_read *read = NULL;
    struct feed_spec spec;
    o->p->preferences = (struct preferences){.include_annotations = STR("")};
    o->p->format = (struct response_format){
        .version = o->p->version, .media = MEDIA_JSON, .metadata = METADATA_NONE};
    explain_spec(&spec);
    return explain_begin(&o->x->arena, &o->x->out, sql, &read, err) &&
           (read == NULL || open_read(rows, o, read, err)) && make_writer(rows, o, &spec, err);
}

bool request_rows_open(struct request_rows *rows, const struct rows_options *o,
                       struct odata_error *err)
{
    const struct prepared *p = o->p;
    struct arena *a = &o->x->arena;
    struct sql_read_options sql_options = {
        p->format, p->root, (prepare_applied(p) & PREFER_APPLIED_OMIT) != 0, STR("")};
    const struct sql_read *sql = NULL;
    const struct csv_table *table = NULL;
    if (p->plan->nested_pages && !links_kept_query(a, p->raw_query, &sql_options.kept_query, err)) {
        return false;
    }
    if (!sql_read_build(a, p->plan, &sql_options, &sql, err) ||
        (p->format.media == MEDIA_CSV && !csv_table_make(a, sql->shape, &table, err))) {
        return false;
    }
    timing_mark(p->timing, TIMING_BOUND);
    explain_log(o->env->log, o->id, sql);
    bool explains = false;
    if (!explain_asked(o->x, o->env->service, p->raw_query, &explains, err)) {
        return false;
    }
    if (explains) {
        return open_explain(rows, o, sql, err);
    }
    bool asks = sql->has_rows || sql->has_count;
    return (!asks || open_read(rows, o, sql, err)) && open_writer(rows, o, sql, table, err);
}
