// SPDX-License-Identifier: Apache-2.0
#include "storage/pg_value.h"
#include "storage/sql_read_priv.h"
#include "storage/value_type.h"

/* A shape under construction. */
struct shaping {
    struct reading *r;
    const struct source *rows;   /* what the shape is of */
    const struct source *source; /* that, or a cast of it */
    size_t level;
    struct columns *columns;
    struct member *members;
    size_t count;
    bool full;           /* odata.metadata=full */
    uint64_t structures; /* of the members that are being added; 0: all */
    const struct entity_type
        *cast;          /* likewise: of this type and those derived from it; NULL: all */
    bool exactly_cast;  /* of this type alone */
    const char *prefix; /* of control information: "odata." in 4.0 */
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
    if (s->cast != NULL) {
        const unsigned first = s->rows->type->number;
        m->kinds_from = s->cast->number - first;
        m->kinds_end = (s->exactly_cast ? s->cast->number : s->cast->last) - first + 1;
    }
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
    const struct entity_type *type = s->rows->type;
    struct row_link *link = ARENA_NEW(a, struct row_link);
    if (link == NULL) {
        return no_room(s);
    }
    link->key_count = type->key.count;
    link->keys = ARENA_ARRAY(a, type->key.count, struct link_key);
    if (link->keys == NULL ||
        !arena_format(a, &link->prefix, "%.*s%.*s", STR_ARG(s->r->options->service_root),
                      STR_ARG(source_set(s->rows)->name)) ||
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
        if (!columns_add_property(s->r, s->columns, s->rows, p, &link->keys[i].field)) {
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
    joined.rows = joined.source;
    struct member *m = add_member(s, MEMBER_LINK);
    return put_label(s, m, n->name, "navigationLink") && make_link(&joined, "", STR(""), &m->link);
}

static bool add_link(struct shaping *s, struct str name, const char *annotation, const char *slash,
                     struct str suffix)
{
    struct member *m = add_member(s, MEMBER_LINK);
    return put_label(s, m, name, annotation) && make_link(s, slash, suffix, &m->link);
}

/* A cast as a segment, with something behind it. */
static bool put_cast(const struct shaping *s, const struct entity_type *t, const char *behind,
                     struct str *out)
{
    return arena_format(s->r->arena, out, "%.*s.%.*s%s", STR_ARG(t->namespace), STR_ARG(t->name),
                        behind) ||
           no_room(s);
}

static bool add_type(struct shaping *s, const struct entity_type *t)
{
    struct member *m = add_member(s, MEMBER_CONSTANT);
    return arena_format(s->r->arena, &m->label, "\"@%stype\":\"#%.*s.%.*s\"", s->prefix,
                        STR_ARG(t->namespace), STR_ARG(t->name)) ||
           no_room(s);
}

/* Whether a member of t is no member of the type of the set by which it is addressed. */
static bool needs_cast(const struct shaping *s, const struct entity_type *t)
{
    return !entity_type_is(source_set(s->rows)->type, t);
}

/*
 * Rows of derived types: the type, which nothing else tells (JSON Format 4.5.3), and an edit link with
 * a cast (Protocol 4.2, JSON Format 4.5.9).
 */
static bool add_kinds(struct shaping *s)
{
    const struct entity_type *type = s->rows->type;
    bool ok = true;
    s->exactly_cast = true;
    for (unsigned i = type->number; i <= type->last && ok; i++) {
        const struct entity_type *t = type->tree->types[i];
        bool is_declared = i == type->number && !s->rows->says_type;
        s->cast = t;
        ok = (is_declared && !s->full) || add_type(s, t);
    }
    s->exactly_cast = false;
    s->cast = NULL;
    return ok;
}

static bool add_edit_link(struct shaping *s, const struct entity_type *t)
{
    struct str name = STR("");
    bool cast = needs_cast(s, t);
    return (!cast || put_cast(s, t, "", &name)) &&
           add_link(s, STR(""), "editLink", cast ? "/" : "", name);
}

static bool add_edit_links(struct shaping *s)
{
    const struct entity_type *type = s->rows->type;
    bool ok = true;
    if (!s->rows->wide) {
        return add_edit_link(s, type);
    }
    s->exactly_cast = true;
    for (unsigned i = type->number; i <= type->last && ok; i++) {
        s->cast = type->tree->types[i];
        ok = add_edit_link(s, s->cast);
    }
    s->exactly_cast = false;
    s->cast = NULL;
    return ok;
}

/* Control information of the entity itself in full metadata (JSON Format 4.5.3, 4.5.8). */
static bool add_entity_metadata(struct shaping *s)
{
    const struct entity_type *type = s->rows->type;
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
    return (s->rows->wide ? add_kinds(s) : add_type(s, type)) &&
           add_link(s, STR(""), "id", "", STR("")) && add_edit_links(s);
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
    s->rows = s->rows != NULL ? s->rows : s->source;
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

/* Association and navigation link in full metadata (JSON Format 8); t declares the navigation. */
static bool add_navigation_links(struct shaping *s, const struct entity_type *t,
                                 const struct navigation *n)
{
    struct str cast = STR("");
    struct str suffix;
    struct str ref;
    return (!needs_cast(s, t) || put_cast(s, t, "/", &cast)) &&
           (arena_format(s->r->arena, &suffix, "%.*s%.*s", STR_ARG(cast), STR_ARG(n->name)) ||
            no_room(s)) &&
           (arena_format(s->r->arena, &ref, "%.*s/$ref", STR_ARG(suffix)) || no_room(s)) &&
           add_link(s, n->name, "associationLink", "/", ref) &&
           add_link(s, n->name, "navigationLink", "/", suffix);
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

/* Whether the links of n, of a cast, are written for rows at large, or by a cast before. */
static bool links_are_there(const struct shaping *s, const struct selection *selection,
                            const struct cast_selection *cast, const struct navigation *n)
{
    const struct entity_type *as = s->rows->type;
    if (n->index < as->navigation_count ? is_linked(selection, &as->navigations[n->index])
                                        : selection->all_derived) {
        return true;
    }
    for (const struct cast_selection *c = selection->casts; c != cast; c = c->next) {
        const struct entity_type *before = c->source->type;
        if (entity_type_is(cast->source->type, before) && n->index < before->navigation_count &&
            is_linked(c->selection, &before->navigations[n->index])) {
            return true;
        }
    }
    return false;
}

/* Links and content of the navigations; cast: of a derived type, beside what is selected at large. */
static bool add_navigations(struct shaping *s, const struct selection *selection,
                            const struct selection *at_large, const struct cast_selection *cast)
{
    const struct entity_type *type = s->source->type;
    for (size_t i = 0; i < type->navigation_count; i++) {
        const struct navigation *n = &type->navigations[i];
        const struct expansion *x = find_expansion(selection, n);
        const struct entity_type *declared = type;
        while (i < declared->inherited_navigations) {
            declared = declared->base;
        }
        bool linked = s->full && !type->transient && n->made == NULL && is_linked(selection, n) &&
                      (cast == NULL || !links_are_there(s, at_large, cast, n));
        s->structures = n->structures;
        if (linked && !add_navigation_links(s, declared, n)) {
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

/* What t, a derived type, adds to the type that it is derived from. */
static bool add_own(struct shaping *s, const struct entity_type *t)
{
    const struct entity_type *as = s->rows->type;
    s->cast = t;
    for (size_t i = t->inherited_properties; i < t->property_count; i++) {
        const struct property *p = &t->properties[i];
        struct member *m = add_member(s, MEMBER_VALUE);
        m->omits_null = s->r->options->omit_nulls && !p->type.collection;
        if (!put_label(s, m, p->name, "") || (s->full && !put_type(s, m, p)) ||
            !columns_add_property(s->r, s->columns, s->rows, &as->tree->slots[p->slot].column,
                                  &m->field) ||
            !put_form(s, m, &p->type, &p->pg)) {
            return false;
        }
    }
    for (size_t i = t->inherited_navigations; s->full && i < t->navigation_count; i++) {
        if (!add_navigation_links(s, t, &t->navigations[i])) {
            return false;
        }
    }
    s->cast = NULL;
    return true;
}

/* Whether what is selected of rows at large, or by a cast before, has the property for this cast. */
static bool is_there(const struct selection *selection, const struct cast_selection *cast,
                     const struct property *p)
{
    for (size_t i = 0; i < selection->property_count; i++) {
        if (str_eq(selection->properties[i]->name, p->name) && !selection->properties[i]->dynamic) {
            return true;
        }
    }
    for (const struct cast_selection *c = selection->casts; c != cast; c = c->next) {
        for (size_t i = 0; i < c->selection->property_count; i++) {
            if (entity_type_is(cast->source->type, c->source->type) &&
                str_eq(c->selection->properties[i]->name, p->name)) {
                return true;
            }
        }
    }
    return false;
}

/* What a path through a cast names: Ns.Dog/Breed. */
static bool add_cast(struct shaping *s, const struct selection *selection,
                     const struct cast_selection *cast)
{
    const struct selection *own = cast->selection;
    s->cast = cast->source->type;
    s->source = cast->source;
    for (size_t i = 0; i < own->property_count; i++) {
        const struct property *p = own->properties[i];
        if ((selection->all_derived && p->depth > s->rows->type->depth) ||
            is_there(selection, cast, p)) {
            continue;
        }
        if (!add_property(s, p, own->values == NULL ? NULL : &own->values[p->index])) {
            return false;
        }
    }
    if (!add_navigations(s, own, selection, cast)) {
        return false;
    }
    s->source = s->rows;
    s->cast = NULL;
    return true;
}

static bool add_derived(struct shaping *s, const struct selection *selection)
{
    const struct entity_type *type = s->rows->type;
    s->structures = 0;
    for (unsigned i = type->number + 1; selection->all_derived && i <= type->last; i++) {
        if (!add_own(s, type->tree->types[i])) {
            return false;
        }
    }
    for (const struct cast_selection *c = selection->casts; c != NULL; c = c->next) {
        if (!add_cast(s, selection, c)) {
            return false;
        }
    }
    return true;
}

static bool add_members(struct shaping *s, const struct selection *selection)
{
    if (selection->ref_only) {
        return add_link(s, STR(""), "id", "", STR(""));
    }
    if (s->full && !add_entity_metadata(s)) {
        return false;
    }
    const struct response_format *format = &s->r->options->format;
    bool typed = format->metadata == METADATA_MINIMAL || format->media == MEDIA_CSV;
    if (s->rows->wide && !s->full && typed && !add_kinds(s)) {
        return false;
    }
    if (!s->rows->wide && s->rows->says_type && !s->full && typed && !add_type(s, s->rows->type)) {
        return false;
    }
    for (size_t i = 0; i < selection->property_count; i++) {
        const struct property *p = selection->properties[i];
        s->structures = p->structures;
        if (!add_property(s, p, selection->values == NULL ? NULL : &selection->values[p->index])) {
            return false;
        }
    }
    return add_navigations(s, selection, NULL, NULL) &&
           (!s->rows->wide || add_derived(s, selection));
}

/* Members that a shape can have, all variants together. */
static size_t most_members(const struct source *rows, const struct selection *selection)
{
    /* type, id and edit link; a property and its count; two links, context, count and content. */
    size_t most = 3 + 2 * selection->property_count + 5 * rows->type->navigation_count;
    for (unsigned i = rows->type->number; rows->wide && i <= rows->type->last; i++) {
        const struct entity_type *t = rows->type->tree->types[i];
        most += 2 + t->property_count - t->inherited_properties +
                2 * (t->navigation_count - t->inherited_navigations);
    }
    for (const struct cast_selection *c = selection->casts; c != NULL; c = c->next) {
        most += 2 * c->selection->property_count + 5 * c->source->type->navigation_count;
    }
    return most;
}

bool read_shape_entity(struct reading *r, const struct selection *selection,
                       const struct source *source, size_t level, struct columns *columns,
                       const struct shape **out)
{
    struct shaping s = {.r = r, .source = source, .level = level, .columns = columns};
    s.full = r->options->format.metadata == METADATA_FULL;
    return start(&s, most_members(source, selection)) && add_members(&s, selection) &&
           finish(&s, out) && read_shape_variants(r, source, selection->ref_only, columns, out);
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
