// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog.h"

#include "storage/catalog_entities.h"
#include "storage/catalog_keys.h"
#include "storage/catalog_navigation.h"
#include "storage/catalog_query.h"
#include "storage/catalog_raw.h"
#include "storage/catalog_search.h"
#include "storage/catalog_types.h"

/* What was noticed on the way. */
static bool keep_warnings(struct raw_catalog *raw, struct odata_error *err)
{
    struct model *m = raw->model;
    m->warnings = ARENA_ARRAY(raw->kept, raw->warnings.count, struct model_warning);
    if (m->warnings == NULL) {
        return raw_no_memory(err);
    }
    for (size_t i = 0; i < raw->warnings.count; i++) {
        m->warnings[i] = raw->warnings.items[i];
    }
    m->warning_count = raw->warnings.count;
    return true;
}

/* Each step needs what the ones before it have found. */
static bool refine(struct raw_catalog *raw, struct odata_error *err)
{
    types_resolve(raw);
    return entities_apply_overrides(raw, err) && keys_choose(raw, err) && entities_name(raw, err) &&
           types_build(raw, err) && entities_build(raw, err) && search_build(raw, err) &&
           navigation_build(raw, err) && entities_finish(raw, err) && keep_warnings(raw, err);
}

bool catalog_load(const struct catalog_options *options, struct model **out_model,
                  struct odata_error *err)
{
    struct model *m = model_new();
    if (m == NULL) {
        return raw_no_memory(err);
    }
    struct raw_catalog raw;
    raw_init(&raw, options, m);
    bool ok = catalog_query_all(&raw, err) && refine(&raw, err) && model_seal(m, err);
    raw_fini(&raw);
    if (!ok) {
        model_release(m);
        return false;
    }
    *out_model = m;
    return true;
}
