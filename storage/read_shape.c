// SPDX-License-Identifier: Apache-2.0
#include "storage/pg_value.h"
#include "storage/sql_read_priv.h"
#include "storage/value_type.h"

/* A shape under construction. */
struct shaping {
    struct reading *r;
    const struct source *source;
    size_t level;
    struct columns *columns;
    struct member *members;
    size_t count;
    bool full;           /* odata.metadata=full */
    uint64_t structures; /* of the members that are being added; 0: all */
    const char *prefix;  /* of control information: "odata." in 4.0 */
};

static bool no_room(const struct shaping *s)
{
    return arena_fail(s->r->arena, s->r->err);
}

static struct member *add_member(struct shaping *s, enum member_kind kind)
{
    struct member *m = &s->members[s->count++];
    m->kind = kind;
    m->structures = s->structures;
    return m;
}

/* `"Name":` or `"Name@odata.count":`; names of the model need no escape. */
static bool put_label(const struct shaping *s, struct member *m, struct str name,
                      const char *annotation)
{
    bool annotated = annotation[0] != '\0';
    const struct str parts[] = {STR("\""),
                                name,
                                annotated ? STR("@") : STR(""),
                                annotated ? str_from(s->prefix) : STR(""),
                                str_from(annotation),
                                STR("\":")};
    return arena_join(s->r->arena, parts, ARRAY_SIZE(parts), &m->label) || no_room(s);
}

/* The entity's id with something behind it: prefix, key, suffix. */
static bool make_link(const struct shaping *s, const char *slash, struct str suffix,
                      const struct row_link **out)
{
    struct arena *a = s->r->arena;
    const struct entity_type *type = s->source->type;
    struct row_link *link = ARENA_NEW(a, struct row_link);
    if (link == NULL) {
        return no_room(s);
    }
    link->key_count = type->key.count;
    link->keys = ARENA_ARRAY(a, type->key.count, struct link_key);
    if (link->keys == NULL ||
        !arena_format(a, &link->prefix, "%.*s%.*s", STR_ARG(s->r->options->service_root),
                      STR_ARG(type->set->name)) ||
        !arena_format(a, &link->suffix, "%s%.*s", slash, STR_ARG(suffix))) {
        return no_room(s);
    }
    for (size_t i = 0; i < type->key.count; i++) {
        const struct property *p = type->key.properties[i];
        link->keys[i].name = STR("");
        if (type->key.count > 1 &&
            !arena_format(a, &link->keys[i].name, "%.*s=", STR_ARG(p->name))) {
            return no_room(s);
        }
        link->keys[i].form = pg_value_url_form(&p->type, &p->pg);
        if (link->keys[i].form == NULL) {
            return no_room(s);
        }
        if (!columns_add_property(s->r, s->columns, s->source, p, &link->keys[i].field)) {
            return false;
        }
    }
    *out = link;
    return true;
}

/* A set of $crossjoin that is not expanded: its entity's URL, in whatever metadata (URL Conventions
   4.15). */
static bool add_crossed(struct shaping *s, const struct navigation *n)
{
    const struct source *row = s->source;
    struct shaping joined = *s;
    for (joined.source = row->joined; joined.source->via != n;) {
        joined.source = joined.source->next;
    }
    struct member *m = add_member(s, MEMBER_LINK);
    return put_label(s, m, n->name, "navigationLink") && make_link(&joined, "", STR(""), &m->link);
}

static bool add_link(struct shaping *s, struct str name, const char *annotation, const char *slash,
                     struct str suffix)
{
    struct member *m = add_member(s, MEMBER_LINK);
    return put_label(s, m, name, annotation) && make_link(s, slash, suffix, &m->link);
}

/* Control information of the entity itself in full metadata (JSON Format 4.5.3, 4.5.8). */
static bool add_entity_metadata(struct shaping *s)
{
    const struct entity_type *type = s->source->type;
    if (type->crossjoin) {
        return true; /* a complex value */
    }
    if (type->transient) {
        if (type->set == NULL) {
            return true; /* a part of such a row */
        }
        /* It has no id, and says so (JSON Format 4.5.8). */
        struct member *none = add_member(s, MEMBER_CONSTANT);
        return arena_format(s->r->arena, &none->label, "\"@%sid\":null", s->prefix) || no_room(s);
    }
    s->structures = type->identified;
    struct member *m = add_member(s, MEMBER_CONSTANT);
    if (!arena_format(s->r->arena, &m->label, "\"@%stype\":\"#%.*s.%.*s\"", s->prefix,
                      STR_ARG(type->namespace), STR_ARG(type->name))) {
        return no_room(s);
    }
    return add_link(s, STR(""), "id", "", STR("")) && add_link(s, STR(""), "editLink", "", STR(""));
}

/* `"Price@odata.type":"#Decimal",` in front of the label (JSON Format 4.5.3). */
static bool put_type(const struct shaping *s, struct member *m, const struct property *p)
{
    struct str type;
    if (!value_type_name(s->r->arena, &p->type, &s->r->options->format, &type)) {
        return no_room(s);
    }
    return type.len == 0 ||
           arena_format(s->r->arena, &m->label, "\"%.*s@%stype\":\"%.*s\",%.*s", STR_ARG(p->name),
                        s->prefix, STR_ARG(type), STR_ARG(m->label)) ||
           no_room(s);
}

static bool put_form(const struct shaping *s, struct member *m, const struct type_ref *type,
                     const struct pg_type_ref *pg)
{
    m->collection_null_is_empty = type->collection;
    const struct response_format *format = &s->r->options->format;
    m->form = format->media == MEDIA_CSV ? pg_value_csv_form(s->r->arena, type, pg, format)
                                         : pg_value_json_form(s->r->arena, type, pg, format);
    return m->form != NULL || no_room(s);
}

/* `"Tags@odata.count":` */
static bool add_values_count(struct shaping *s, struct str name, const struct bound_expr *count)
{
    struct member *m = add_member(s, MEMBER_COUNT);
    struct column column = {.source = s->source, .value = count};
    return put_label(s, m, name, "count") && columns_add(s->r, s->columns, &column, &m->field);
}

static bool start(struct shaping *s, size_t most)
{
    s->members = ARENA_ARRAY(s->r->arena, most, struct member);
    s->prefix = s->r->options->format.version == ODATA_4_0 ? "odata." : "";
    return s->members != NULL || no_room(s);
}

static bool finish(const struct shaping *s, const struct shape **out)
{
    struct shape *shape = ARENA_NEW(s->r->arena, struct shape);
    if (shape == NULL) {
        return no_room(s);
    }
    shape->members = s->members;
    shape->count = s->count;
    *out = shape;
    return true;
}

static bool add_parts(struct shaping *s, const struct selected_part *parts,
                      const struct shape **out);

/* A part of a complex value: whole, or an object of parts again. */
static bool add_part(struct shaping *s, const struct selected_part *part)
{
    const struct property *p = part->property;
    bool whole = part->whole || part->parts == NULL;
    struct member *m = add_member(s, whole ? MEMBER_VALUE : MEMBER_TO_ONE);
    struct column column = {.source = s->source, .value = part->value};
    m->omits_null = s->r->options->omit_nulls && !p->type.collection;
    return put_label(s, m, p->name, "") && (!s->full || put_type(s, m, p)) &&
           columns_add(s->r, s->columns, &column, &m->field) &&
           (whole ? put_form(s, m, &p->type, &p->pg) : add_parts(s, part->parts, &m->shape));
}

static bool add_parts(struct shaping *s, const struct selected_part *parts,
                      const struct shape **out)
{
    struct shaping inner = {
        .r = s->r, .source = s->source, .level = s->level, .columns = s->columns, .full = s->full};
    size_t count = 0;
    for (const struct selected_part *p = parts; p != NULL; p = p->next) {
        count++;
    }
    if (!start(&inner, count)) {
        return false;
    }
    for (const struct selected_part *p = parts; p != NULL; p = p->next) {
        if (!add_part(&inner, p)) {
            return false;
        }
    }
    return finish(&inner, out);
}

/* values: what is read of a collection or complex value, or NULL. */
static bool add_property(struct shaping *s, const struct property *p,
                         const struct selected_values *values)
{
    if (values != NULL && values->count != NULL && !add_values_count(s, p->name, values->count)) {
        return false;
    }
    struct column column = {.source = s->source, .property = p};
    if (values != NULL && values->value != NULL) {
        column = (struct column){.source = s->source, .value = values->value};
    }
    /* Nothing but the answer says what type a dynamic property has (JSON Format 4.5.3). */
    bool typed = s->full || (p->dynamic && s->r->options->format.metadata != METADATA_NONE);
    bool whole = values == NULL || values->parts == NULL;
    struct member *m = add_member(s, whole ? MEMBER_VALUE : MEMBER_TO_ONE);
    m->omits_null = s->r->options->omit_nulls && !p->type.collection;
    return put_label(s, m, p->name, "") && (!typed || put_type(s, m, p)) &&
           columns_add(s->r, s->columns, &column, &m->field) &&
           (whole ? put_form(s, m, &p->type, &p->pg) : add_parts(s, values->parts, &m->shape));
}

static const struct expansion *find_expansion(const struct selection *selection,
                                              const struct navigation *n)
{
    const struct expansion *x = selection->expansions;
    while (x != NULL && x->navigation != n) {
        x = x->next;
    }
    return x;
}

static bool is_linked(const struct selection *selection, const struct navigation *n)
{
    for (size_t i = 0; i < selection->link_count; i++) {
        if (selection->links[i] == n) {
            return true;
        }
    }
    return selection->all_links || find_expansion(selection, n) != NULL;
}

/* Association and navigation link in full metadata (JSON Format 8). */
static bool add_navigation_links(struct shaping *s, const struct navigation *n)
{
    struct str suffix;
    return (arena_format(s->r->arena, &suffix, "%.*s/$ref", STR_ARG(n->name)) || no_room(s)) &&
           add_link(s, n->name, "associationLink", "/", suffix) &&
           add_link(s, n->name, "navigationLink", "/", n->name);
}

static bool add_count(struct shaping *s, const struct expansion *x)
{
    struct member *m = add_member(s, MEMBER_COUNT);
    struct column column = {.source = s->source, .count = x};
    return put_label(s, m, x->navigation->name, "count") &&
           columns_add(s->r, s->columns, &column, &m->field);
}

static bool add_embedded(struct shaping *s, const struct expansion *x)
{
    struct member *m = add_member(s, MEMBER_OBJECT);
    return put_label(s, m, x->navigation->name, "") &&
           read_shape_entity(s->r, x->selection, x->source, s->level, s->columns, &m->shape);
}

static bool add_to_one(struct shaping *s, const struct expansion *x)
{
    struct member *m = add_member(s, MEMBER_TO_ONE);
    m->omits_null = s->r->options->omit_nulls;
    return put_label(s, m, x->navigation->name, "") &&
           columns_add_property(s->r, s->columns, x->source, x->source->type->key.properties[0],
                                &m->field) &&
           read_shape_entity(s->r, x->selection, x->source, s->level, s->columns, &m->shape);
}

/* `"Nav@odata.context":"..."`, of rows that no other URL says what they are (Data Aggregation 3.4.3). */
static bool add_context(struct shaping *s, const struct expansion *x)
{
    const struct sql_read_options *options = s->r->options;
    if (x->context.len == 0 || options->format.metadata == METADATA_NONE ||
        options->format.media != MEDIA_JSON) {
        return true;
    }
    struct member *m = add_member(s, MEMBER_CONSTANT);
    return arena_format(s->r->arena, &m->label, "\"%.*s@%scontext\":\"%.*s$metadata#%.*s\"",
                        STR_ARG(x->navigation->name), s->prefix, STR_ARG(options->service_root),
                        STR_ARG(x->context)) ||
           no_room(s);
}

/* The link at the end of an expanded collection's page; *out is NULL when it has no pages. */
static bool make_page(struct shaping *s, const struct expansion *x, struct nested_page **out)
{
    if (x->read->page_rows == 0) {
        return true;
    }
    struct nested_page *page = ARENA_NEW(s->r->arena, struct nested_page);
    struct member labelled = {0};
    struct str suffix;
    const struct str parts[] = {x->next_path, STR("?"), x->next_query, s->r->options->kept_query,
                                STR("$skiptoken=")};
    if (page == NULL || !arena_join(s->r->arena, parts, ARRAY_SIZE(parts), &suffix)) {
        return no_room(s);
    }
    page->rows = x->read->page_rows;
    page->token_check = x->read->token_check;
    *out = page;
    if (!put_label(s, &labelled, x->navigation->name, "nextLink") ||
        !make_link(s, "", suffix, &page->link)) {
        return false;
    }
    page->label = labelled.label;
    return true;
}

static bool add_expansion(struct shaping *s, const struct expansion *x)
{
    if (!add_context(s, x)) {
        return false;
    }
    if ((x->has_count || x->count_only) && !add_count(s, x)) {
        return false;
    }
    if (x->count_only) {
        return true;
    }
    if ((x->navigation->embedded || x->navigation->crossed) && !x->navigation->nullable) {
        return add_embedded(s, x);
    }
    if (!x->navigation->collection) {
        return add_to_one(s, x);
    }
    struct member *m = add_member(s, MEMBER_TO_MANY);
    struct nested_page *page = NULL;
    if (!put_label(s, m, x->navigation->name, "") || !make_page(s, x, &page)) {
        return false;
    }
    m->page = page;
    return sql_read_level(s->r, x, s->level, s->columns, m, page);
}

static bool add_members(struct shaping *s, const struct selection *selection)
{
    if (selection->ref_only) {
        return add_link(s, STR(""), "id", "", STR(""));
    }
    if (s->full && !add_entity_metadata(s)) {
        return false;
    }
    for (size_t i = 0; i < selection->property_count; i++) {
        const struct property *p = selection->properties[i];
        s->structures = p->structures;
        if (!add_property(s, p, selection->values == NULL ? NULL : &selection->values[p->index])) {
            return false;
        }
    }
    const struct entity_type *type = s->source->type;
    for (size_t i = 0; i < type->navigation_count; i++) {
        const struct navigation *n = &type->navigations[i];
        const struct expansion *x = find_expansion(selection, n);
        s->structures = n->structures;
        if (s->full && !type->transient && n->made == NULL && is_linked(selection, n) &&
            !add_navigation_links(s, n)) {
            return false;
        }
        if (x == NULL && n->crossed && is_linked(selection, n) && !add_crossed(s, n)) {
            return false;
        }
        if (x != NULL && !add_expansion(s, x)) {
            return false;
        }
    }
    return true;
}

static bool vary(struct shaping *s, const struct shape *all, uint64_t structure, struct shape *out)
{
    struct member *members = ARENA_ARRAY(s->r->arena, all->count, struct member);
    if (members == NULL) {
        return no_room(s);
    }
    out->members = members;
    for (size_t i = 0; i < all->count; i++) {
        struct member *m = &members[out->count];
        if (all->members[i].structures != 0 && (all->members[i].structures & structure) == 0) {
            continue;
        }
        *m = all->members[i];
        out->count++;
        if (m->kind == MEMBER_OBJECT) {
            struct shape *inner = ARENA_NEW(s->r->arena, struct shape);
            if (inner == NULL) {
                return no_room(s);
            }
            if (!vary(s, m->shape, structure, inner)) {
                return false;
            }
            m->shape = inner;
        }
    }
    return true;
}

/* One shape for each structure that the type's rows can have: those of its members. */
static bool add_variants(struct shaping *s, const struct shape **io_shape)
{
    const struct entity_type *type = s->source->type;
    if (type->structure == NULL) {
        return true;
    }
    struct shape *shape = ARENA_NEW(s->r->arena, struct shape);
    struct shape *variants = ARENA_ARRAY(s->r->arena, type->structure_count, struct shape);
    if (shape == NULL || variants == NULL) {
        return no_room(s);
    }
    *shape = **io_shape;
    for (size_t i = 0; i < type->structure_count; i++) {
        if (!vary(s, shape, UINT64_C(1) << i, &variants[i])) {
            return false;
        }
    }
    shape->variants = variants;
    shape->variant_count = type->structure_count;
    *io_shape = shape;
    return columns_add_property(s->r, s->columns, s->source, type->structure,
                                &shape->variant_field);
}

bool read_shape_entity(struct reading *r, const struct selection *selection,
                       const struct source *source, size_t level, struct columns *columns,
                       const struct shape **out)
{
    struct shaping s = {.r = r, .source = source, .level = level, .columns = columns};
    s.full = r->options->format.metadata == METADATA_FULL;
    /* type, id and edit link; a property and its count; two links, context, count and content. */
    size_t most = 3 + 2 * selection->property_count + 5 * source->type->navigation_count;
    return start(&s, most) && add_members(&s, selection) && finish(&s, out) &&
           add_variants(&s, out);
}

bool read_shape_value(struct reading *r, const struct bound_expr *value,
                      const struct bound_expr *count, struct columns *columns,
                      const struct shape **out)
{
    struct shaping s = {.r = r, .source = value->source, .columns = columns};
    if (!start(&s, 2)) {
        return false;
    }
    struct member *m = add_member(&s, MEMBER_VALUE);
    struct column column = {.source = value->source, .value = value};
    struct str name = STR("value");
    if (value->part_count > 0) {
        name = value->parts[value->part_count - 1]->name;
    } else if (value->property != NULL) {
        name = value->property->name;
    }
    return put_label(&s, m, name, "") && put_form(&s, m, &value->type, value->pg) &&
           columns_add(r, columns, &column, &m->field) &&
           (count == NULL || add_values_count(&s, STR(""), count)) && finish(&s, out);
}
