// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "odata/metadata.h"

#define S(text)        \
    {                  \
        STR_INIT(text) \
    }
#define NO_FACETS .max_length = FACET_NONE, .precision = FACET_NONE, .scale = FACET_NONE

static struct str colors[] = {S("red"), S("green")};
static struct enum_type enums[] = {
    {.namespace = S("shop"),
     .name = S("color"),
     .members = colors,
     .member_count = 2,
     .description = S("hues & \"tints\"")},
};
static struct property address_properties[] = {
    {.name = S("City"),
     .type = {.type = EDM_STRING, .max_length = 40, .precision = -1, .scale = -1}},
};
static struct complex_type complexes[] = {
    {.namespace = S("more"),
     .name = S("Address"),
     .properties = address_properties,
     .property_count = 1},
};

/* What a container says that has no sets. */
#define BARE_XML(core, capabilities)                                         \
    "\n<Annotation Term=\"" core                                             \
    ".ODataVersions\" String=\"4.0 4.01\"/><Annotation Term=\"" capabilities \
    ".BatchSupported\" Bool=\"false\"/><Annotation Term=\"" capabilities     \
    ".AsynchronousRequestsSupported\" Bool=\"false\"/></EntityContainer>\n</Schema>\n"
#define BARE_JSON(core, capabilities)                                                         \
    "\"$Kind\":\"EntityContainer\",\"@" core ".ODataVersions\":\"4.0 4.01\",\"@" capabilities \
    ".BatchSupported\":false,\"@" capabilities ".AsynchronousRequestsSupported\":false}}"

static struct entity_set sets[2];
static struct entity_type types[2];

static struct property item_properties[] = {
    {.name = S("order_id"), .type = {.type = EDM_INT64, NO_FACETS}},
    {.name = S("line"), .type = {.type = EDM_INT16, NO_FACETS}},
    {.name = S("price"),
     .type =
         {.type = EDM_DECIMAL, .nullable = true, .max_length = -1, .precision = 10, .scale = 2}},
    {.name = S("any"),
     .type = {.type = EDM_DECIMAL,
              .nullable = true,
              .max_length = -1,
              .precision = -1,
              .scale = FACET_VARIABLE}},
    {.name = S("forgotten"), .type = {.type = EDM_DECIMAL, .nullable = true, NO_FACETS}},
    {.name = S("whole"),
     .type =
         {.type = EDM_DECIMAL, .nullable = true, .max_length = -1, .precision = 18, .scale = -1}},
    {.name = S("at"),
     .type = {.type = EDM_DATETIMEOFFSET,
              .nullable = true,
              .max_length = -1,
              .precision = 6,
              .scale = -1},
     .description = S("<when>\nline 2 \x01"),
     .computed = true},
    {.name = S("hues"),
     .type = {.type = EDM_ENUM,
              .collection = true,
              .nullable = true,
              .enum_type = &enums[0],
              NO_FACETS}},
    {.name = S("home"), .type = {.type = EDM_COMPLEX, .complex_type = &complexes[0], NO_FACETS}},
    {.name = S("doc"), .type = {.type = EDM_UNTYPED, NO_FACETS}},
    {.name = S("place"), .type = {.type = EDM_GEOGRAPHY, .nullable = true, NO_FACETS}},
    {.name = S("Gr\xc3\xb6\xc3\x9f"
               "e"),
     .type = {.type = EDM_INT32, .nullable = true, NO_FACETS}},
};
static struct property order_properties[] = {
    {.name = S("id"), .type = {.type = EDM_INT64, NO_FACETS}},
    {.name = S("code"),
     .type = {.type = EDM_STRING, .max_length = 8, .precision = -1, .scale = -1}},
};
static struct join_column to_order[] = {{&item_properties[0], &order_properties[0]}};
static struct join_column to_items[] = {{&order_properties[0], &item_properties[0]}};
static struct navigation order_navigations[2];
static struct navigation item_navigations[] = {
    {.name = S("order"),
     .source = &types[1],
     .target = &types[0],
     .partner = &order_navigations[0],
     .joins = to_order,
     .join_count = 1,
     .dependent = true},
};
static struct navigation order_navigations[2] = {
    {.name = S("items"),
     .source = &types[0],
     .target = &types[1],
     .partner = &item_navigations[0],
     .joins = to_items,
     .join_count = 1,
     .collection = true},
    {.name = S("last"), .source = &types[0], .target = &types[1], .nullable = true},
};
static const struct property *item_key[] = {&item_properties[0], &item_properties[1]};
static const struct property *order_key[] = {&order_properties[0]};
static const struct property *order_code[] = {&order_properties[1]};
static struct key order_alternates[] = {{order_code, 1}};
static const struct search_piece order_search[] = {{S(""), S("words")}};
static struct entity_type types[2] = {
    {.namespace = S("more"),
     .name = S("order"),
     .properties = order_properties,
     .property_count = ARRAY_SIZE(order_properties),
     .navigations = order_navigations,
     .navigation_count = ARRAY_SIZE(order_navigations),
     .key = {order_key, 1},
     .alternate_keys = order_alternates,
     .alternate_key_count = 1,
     .set = &sets[1],
     .search = {order_search, 1, S("'simple'::regconfig"), true},
     .description = S("what was ordered")},
    {.namespace = S("shop"),
     .name = S("item"),
     .properties = item_properties,
     .property_count = ARRAY_SIZE(item_properties),
     .navigations = item_navigations,
     .navigation_count = ARRAY_SIZE(item_navigations),
     .key = {item_key, 2},
     .set = &sets[0]},
};
static struct entity_set sets[2] = {
    {.name = S("It\xc3\xa4ms"), .type = &types[1]},
    {.name = S("order"), .type = &types[0]},
};
static struct str namespaces[] = {S("shop"), S("more")};
static const struct model shop = {.container = S("Container"),
                                  .namespaces = namespaces,
                                  .namespace_count = 2,
                                  .sets = sets,
                                  .set_count = 2,
                                  .types = types,
                                  .type_count = 2,
                                  .enums = enums,
                                  .enum_count = 1,
                                  .complexes = complexes,
                                  .complex_count = 1};
/* Nodes with a parent, and a boss that each must have. */
static struct property node_properties[] = {
    {.name = S("id"), .type = {.type = EDM_INT64, NO_FACETS}},
    {.name = S("up"), .type = {.type = EDM_INT64, .nullable = true, NO_FACETS}},
};
static struct entity_type node_types[1];
static struct join_column to_parent[] = {{&node_properties[1], &node_properties[0]}};
static struct navigation node_navigations[2] = {
    {.name = S("parent"),
     .source = node_types,
     .target = node_types,
     .joins = to_parent,
     .join_count = 1,
     .nullable = true,
     .dependent = true},
    {.name = S("boss"),
     .source = node_types,
     .target = node_types,
     .joins = to_parent,
     .join_count = 1,
     .dependent = true},
};
static const struct property *node_key[] = {&node_properties[0]};
static struct entity_set node_sets[] = {{.name = S("node"), .type = node_types}};
static struct entity_type node_types[1] = {{.namespace = S("shop"),
                                            .name = S("node"),
                                            .properties = node_properties,
                                            .property_count = ARRAY_SIZE(node_properties),
                                            .navigations = node_navigations,
                                            .navigation_count = ARRAY_SIZE(node_navigations),
                                            .key = {node_key, 1},
                                            .set = node_sets}};
static const struct model tree = {.container = S("Container"),
                                  .namespaces = namespaces,
                                  .namespace_count = 1,
                                  .sets = node_sets,
                                  .set_count = 1,
                                  .types = node_types,
                                  .type_count = 1};

static struct str taken[] = {S("Core"), S("Capabilities")};
static const struct model odd = {.container = S("C"), .namespaces = taken, .namespace_count = 2};
static const struct model empty = {.container = S("Container")};

static const struct metadata_features none = {.can_write = false};
static const struct metadata_features all = {
    .can_write = true, .can_search = true, .can_batch = true, .has_alternate_keys = true};
static const struct metadata_features applies = {.can_apply = true};

#define REFERENCE(ns, alias)                                                                \
    "<edmx:Reference Uri=\"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/" ns \
    ".xml\"><edmx:Include Namespace=\"" ns "\"" alias "/></edmx:Reference>\n"
#define HEAD(version)                                                                       \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                          \
    "<edmx:Edmx xmlns:edmx=\"http://docs.oasis-open.org/odata/ns/edmx\" Version=\"" version \
    "\">\n"
#define SCHEMA "<Schema xmlns=\"http://docs.oasis-open.org/odata/ns/edm\" Namespace="
#define TAIL   "</edmx:DataServices>\n</edmx:Edmx>\n"

#define JSON_REFERENCE(ns, alias)                                       \
    "\"https://oasis-tcs.github.io/odata-vocabularies/vocabularies/" ns \
    ".json\":{\"$Include\":[{\"$Namespace\":\"" ns "\"" alias "}]}"

/* The whole document where it is short, else pieces that must be in it, or must not. */
static const struct row {
    const char *name;
    const struct model *model;
    enum odata_version version;
    const struct metadata_features *features;
    const char *piece;
    bool absent;
    enum media media;
} rows[] = {
    {"a model without anything", &empty, ODATA_4_0, &none,
     HEAD("4.0") REFERENCE("Org.OData.Core.V1", " Alias=\"Core\"") REFERENCE(
         "Org.OData.Capabilities.V1",
         " Alias=\"Capabilities\"") "<edmx:DataServices>\n" SCHEMA
                                    "\"Default\">\n<EntityContainer Name=\"Container\">" BARE_XML(
                                        "Core", "Capabilities") TAIL,
     false, MEDIA_XML},
    {"namespaces that take the aliases", &odd, ODATA_4_01, &none,
     HEAD("4.01") REFERENCE("Org.OData.Core.V1", "") REFERENCE(
         "Org.OData.Capabilities.V1", "") "<edmx:DataServices>\n" SCHEMA
                                          "\"Core\">\n<EntityContainer Name=\"C\">" BARE_XML(
                                              "Org.OData.Core.V1", "Org.OData.Capabilities.V1")
                                              SCHEMA "\"Capabilities\">\n</Schema>\n" TAIL,
     false, MEDIA_XML},
    {"an enumeration", &shop, ODATA_4_0, &none,
     "<EnumType Name=\"color\"><Member Name=\"red\" Value=\"0\"/><Member Name=\"green\" "
     "Value=\"1\"/><Annotation Term=\"Core.Description\" String=\"hues &amp; "
     "&quot;tints&quot;\"/></EnumType>\n",
     false, MEDIA_XML},
    {"a complex type", &shop, ODATA_4_0, &none,
     "\"more\">\n<ComplexType Name=\"Address\"><Property Name=\"City\" Type=\"Edm.String\" "
     "Nullable=\"false\" MaxLength=\"40\"/></ComplexType>\n",
     false, MEDIA_XML},
    {"a key of two", &shop, ODATA_4_0, &none,
     "<EntityType Name=\"item\"><Key><PropertyRef Name=\"order_id\"/><PropertyRef Name=\"line\"/>"
     "</Key><Property Name=\"order_id\" Type=\"Edm.Int64\" Nullable=\"false\"/><Property "
     "Name=\"line\"",
     false, MEDIA_XML},
    {"a decimal", &shop, ODATA_4_0, &none,
     "<Property Name=\"price\" Type=\"Edm.Decimal\" Precision=\"10\" Scale=\"2\"/>", false,
     MEDIA_XML},
    {"a decimal without limits", &shop, ODATA_4_0, &none,
     "<Property Name=\"any\" Type=\"Edm.Decimal\" Scale=\"variable\"/>", false, MEDIA_XML},
    {"a decimal about which nothing is said", &shop, ODATA_4_0, &none,
     "<Property Name=\"forgotten\" Type=\"Edm.Decimal\" Scale=\"variable\"/>", false, MEDIA_XML},
    {"a decimal that is whole", &shop, ODATA_4_0, &none,
     "<Property Name=\"whole\" Type=\"Edm.Decimal\" Precision=\"18\" Scale=\"0\"/>", false,
     MEDIA_XML},
    {"descriptions are escaped", &shop, ODATA_4_0, &none,
     "<Property Name=\"at\" Type=\"Edm.DateTimeOffset\" Precision=\"6\"><Annotation "
     "Term=\"Core.Description\" String=\"&lt;when&gt;&#10;line 2 \xef\xbf\xbd\"/><Annotation "
     "Term=\"Core.Computed\" Bool=\"true\"/></Property>",
     false, MEDIA_XML},
    {"a collection", &shop, ODATA_4_0, &none,
     "<Property Name=\"hues\" Type=\"Collection(shop.color)\" Nullable=\"true\"/>", false,
     MEDIA_XML},
    {"a complex property", &shop, ODATA_4_0, &none,
     "<Property Name=\"home\" Type=\"more.Address\" Nullable=\"false\"/>", false, MEDIA_XML},
    {"JSON in 4.0", &shop, ODATA_4_0, &none, "<Property Name=\"doc\" Type=\"Edm.String\"/>", false,
     MEDIA_XML},
    {"JSON in 4.01", &shop, ODATA_4_01, &none, "<Property Name=\"doc\" Type=\"Edm.Untyped\"/>",
     false, MEDIA_XML},
    {"a name with letters of another script", &shop, ODATA_4_0, &none,
     "<Property Name=\"Gr\xc3\xb6\xc3\x9f"
     "e\" Type=\"Edm.Int32\"/>",
     false, MEDIA_XML},
    {"the side with the foreign key", &shop, ODATA_4_0, &none,
     "<NavigationProperty Name=\"order\" Type=\"more.order\" Nullable=\"false\" Partner=\"items\">"
     "<ReferentialConstraint Property=\"order_id\" ReferencedProperty=\"id\"/>"
     "</NavigationProperty></EntityType>\n",
     false, MEDIA_XML},
    {"the other side", &shop, ODATA_4_0, &none,
     "<NavigationProperty Name=\"items\" Type=\"Collection(shop.item)\" Partner=\"order\"/>", false,
     MEDIA_XML},
    {"a navigation without partner", &shop, ODATA_4_0, &none,
     "<NavigationProperty Name=\"last\" Type=\"shop.item\"/><Annotation Term=\"Core.Description\" "
     "String=\"what was ordered\"/></EntityType>\n",
     false, MEDIA_XML},
    {"alternate keys, when they can be used", &shop, ODATA_4_0, &all,
     "<Annotation Term=\"Core.AlternateKeys\"><Collection><Record><PropertyValue Property=\"Key\">"
     "<Collection><Record><PropertyValue Property=\"Name\" PropertyPath=\"code\"/></Record>"
     "</Collection></PropertyValue></Record></Collection></Annotation></EntityType>\n",
     false, MEDIA_XML},
    {"no alternate keys, when not", &shop, ODATA_4_0, &none, "AlternateKeys", true, MEDIA_XML},
    {"the container is in the first schema", &shop, ODATA_4_0, &none,
     "<EntityContainer Name=\"Container\">\n<Annotation Term=\"Core.ODataVersions\" String=\"4.0 "
     "4.01\"/><Annotation Term=\"Capabilities.BatchSupported\" Bool=\"false\"/><Annotation "
     "Term=\"Capabilities.AsynchronousRequestsSupported\" Bool=\"false\"/><EntitySet "
     "Name=\"It\xc3\xa4ms\" EntityType=\"shop.item\"><NavigationPropertyBinding Path=\"order\" "
     "Target=\"order\"/><Annotation Term=\"Capabilities.SearchRestrictions\"><Record>"
     "<PropertyValue Property=\"Searchable\" Bool=\"false\"/></Record></Annotation><Annotation "
     "Term=\"Capabilities.InsertRestrictions\"><Record><PropertyValue Property=\"Insertable\" "
     "Bool=\"false\"/></Record></Annotation><Annotation Term=\"Capabilities.UpdateRestrictions\">"
     "<Record><PropertyValue Property=\"Updatable\" Bool=\"false\"/></Record></Annotation>"
     "<Annotation Term=\"Capabilities.DeleteRestrictions\"><Record><PropertyValue "
     "Property=\"Deletable\" Bool=\"false\"/></Record></Annotation></EntitySet>\n",
     false, MEDIA_XML},
    {"a set with all features has only its bindings", &shop, ODATA_4_0, &all,
     "<EntitySet Name=\"order\" EntityType=\"more.order\"><NavigationPropertyBinding "
     "Path=\"items\" Target=\"It\xc3\xa4ms\"/><NavigationPropertyBinding Path=\"last\" "
     "Target=\"It\xc3\xa4ms\"/></EntitySet>\n</EntityContainer>\n</Schema>\n" SCHEMA "\"more\">\n",
     false, MEDIA_XML},
    {"a set without text cannot be searched", &shop, ODATA_4_0, &all,
     "Target=\"order\"/><Annotation Term=\"Capabilities.SearchRestrictions\"><Record>"
     "<PropertyValue Property=\"Searchable\" Bool=\"false\"/>",
     false, MEDIA_XML},
    {"batch is not refused when it is there", &shop, ODATA_4_0, &all, "BatchSupported", true,
     MEDIA_XML},
    {"no container in the second schema", &shop, ODATA_4_0, &all, "</EntityType>\n</Schema>\n" TAIL,
     false, MEDIA_XML},
    {"JSON: a model without anything", &empty, ODATA_4_0, &none,
     "{\"$Version\":\"4.0\",\"$EntityContainer\":\"Default.Container\",\"$Reference\":{" JSON_REFERENCE(
         "Org.OData.Core.V1",
         ",\"$Alias\":\"Core\"") "," JSON_REFERENCE("Org.OData.Capabilities.V1",
                                                    ",\"$Alias\":\"Capabilities\"") "},\n\"Default\":{\n\"Container\":{" BARE_JSON("Core",
                                                                                                                                   "Capabilities") "}\n",
     false, MEDIA_JSON},
    {"JSON: namespaces that take the aliases", &odd, ODATA_4_01, &none,
     "{\"$Version\":\"4.01\",\"$EntityContainer\":\"Core.C\",\"$Reference\":{" JSON_REFERENCE(
         "Org.OData.Core.V1",
         "") "," JSON_REFERENCE("Org.OData.Capabilities.V1",
                                "") "},\n\"Core\":{\n\"C\":{" BARE_JSON("Org.OData.Core.V1",
                                                                        "Org.OData.Capabilities.V1") ",\n\"Capabilities\":{}}\n",
     false, MEDIA_JSON},
    {"what $apply takes", &shop, ODATA_4_0, &applies,
     "Target=\"order\"/><Annotation Term=\"Aggregation.ApplySupported\"><Record><PropertyValue "
     "Property=\"Transformations\"><Collection><String>aggregate</String><String>groupby</String>"
     "<String>concat</String><String>filter</String><String>compute</String>",
     false, MEDIA_XML},
    {"its vocabulary", &shop, ODATA_4_0, &applies,
     REFERENCE("Org.OData.Aggregation.V1", " Alias=\"Aggregation\""), false, MEDIA_XML},
    {"no search in what cannot be searched", &tree, ODATA_4_0, &applies, "<String>search<", true,
     MEDIA_XML},
    {"a hierarchy", &tree, ODATA_4_0, &applies,
     "<Annotation Term=\"Aggregation.RecursiveHierarchy\" Qualifier=\"parent\"><Record>"
     "<PropertyValue Property=\"NodeProperty\" PropertyPath=\"id\"/><PropertyValue "
     "Property=\"ParentNavigationProperty\" NavigationPropertyPath=\"parent\"/></Record>"
     "</Annotation></EntityType>",
     false, MEDIA_XML},
    {"JSON: a hierarchy", &tree, ODATA_4_0, &applies,
     "\"@Aggregation.RecursiveHierarchy#parent\":{\"NodeProperty\":\"id\","
     "\"ParentNavigationProperty\":\"parent\"}",
     false, MEDIA_JSON},
    {"no root, no hierarchy", &tree, ODATA_4_0, &applies, "Qualifier=\"boss\"", true, MEDIA_XML},
    {"no hierarchy where nothing is applied", &tree, ODATA_4_0, &none, "RecursiveHierarchy", true,
     MEDIA_XML},
    {"JSON: what $apply takes", &shop, ODATA_4_0, &applies,
     "\"@Aggregation.ApplySupported\":{\"Transformations\":[\"aggregate\",\"groupby\",\"concat\",",
     false, MEDIA_JSON},
    {"JSON: where the container is", &shop, ODATA_4_0, &none,
     "{\"$Version\":\"4.0\",\"$EntityContainer\":\"shop.Container\",\"$Reference\":{", false,
     MEDIA_JSON},
    {"JSON: an enumeration", &shop, ODATA_4_0, &none,
     "\n\"color\":{\"$Kind\":\"EnumType\",\"red\":0,\"green\":1,\"@Core.Description\":\"hues & \\\"tints\\\"\"},",
     false, MEDIA_JSON},
    {"JSON: a complex type, and a string", &shop, ODATA_4_0, &none,
     "\n\"Address\":{\"$Kind\":\"ComplexType\",\"City\":{\"$MaxLength\":40}},", false, MEDIA_JSON},
    {"JSON: a key of two", &shop, ODATA_4_0, &none,
     "\n\"item\":{\"$Kind\":\"EntityType\",\"$Key\":[\"order_id\",\"line\"],\"order_id\":{\"$Type\":\"Edm.Int64\"},\"line\":{\"$Type\":\"Edm.Int16\"},",
     false, MEDIA_JSON},
    {"JSON: a decimal", &shop, ODATA_4_0, &none,
     "\"price\":{\"$Type\":\"Edm.Decimal\",\"$Nullable\":true,\"$Precision\":10,\"$Scale\":2},",
     false, MEDIA_JSON},
    {"JSON: a decimal without limits", &shop, ODATA_4_0, &none,
     "\"any\":{\"$Type\":\"Edm.Decimal\",\"$Nullable\":true,\"$Scale\":\"variable\"},", false,
     MEDIA_JSON},
    {"JSON: descriptions are escaped", &shop, ODATA_4_0, &none,
     "\"at\":{\"$Type\":\"Edm.DateTimeOffset\",\"$Nullable\":true,\"$Precision\":6,\"@Core.Description\":\"<when>\\nline 2 \\u0001\",\"@Core.Computed\":true},",
     false, MEDIA_JSON},
    {"JSON: a collection", &shop, ODATA_4_0, &none,
     "\"hues\":{\"$Collection\":true,\"$Type\":\"shop.color\",\"$Nullable\":true},", false,
     MEDIA_JSON},
    {"JSON: a complex property", &shop, ODATA_4_0, &none, "\"home\":{\"$Type\":\"more.Address\"},",
     false, MEDIA_JSON},
    {"JSON: a JSON column in 4.0", &shop, ODATA_4_0, &none, "\"doc\":{\"$Nullable\":true},", false,
     MEDIA_JSON},
    {"JSON: a JSON column in 4.01", &shop, ODATA_4_01, &none,
     "\"doc\":{\"$Type\":\"Edm.Untyped\",\"$Nullable\":true},", false, MEDIA_JSON},
    {"JSON: the side with the foreign key", &shop, ODATA_4_0, &none,
     "\"order\":{\"$Kind\":\"NavigationProperty\",\"$Type\":\"more.order\",\"$Partner\":\"items\",\"$ReferentialConstraint\":{\"order_id\":\"id\"}}}",
     false, MEDIA_JSON},
    {"JSON: the other side", &shop, ODATA_4_0, &none,
     "\"items\":{\"$Kind\":\"NavigationProperty\",\"$Collection\":true,\"$Type\":\"shop.item\",\"$Partner\":\"order\"},",
     false, MEDIA_JSON},
    {"JSON: a navigation that may be null", &shop, ODATA_4_0, &none,
     "\"last\":{\"$Kind\":\"NavigationProperty\",\"$Type\":\"shop.item\",\"$Nullable\":true},\"@Core.Description\":\"what was ordered\"}",
     false, MEDIA_JSON},
    {"JSON: alternate keys", &shop, ODATA_4_0, &all,
     "\"@Core.AlternateKeys\":[{\"Key\":[{\"Name\":\"code\"}]}]}", false, MEDIA_JSON},
    {"JSON: the container and what cannot be done", &shop, ODATA_4_0, &none,
     "\n\"Container\":{\"$Kind\":\"EntityContainer\",\"@Core.ODataVersions\":\"4.0 4.01\",\"@Capabilities.BatchSupported\":false,\"@Capabilities.AsynchronousRequestsSupported\":false,\n\"It\xc3\xa4ms\":{\"$Collection\":true,\"$Type\":\"shop.item\",\"$NavigationPropertyBinding\":{\"order\":\"order\"},\"@Capabilities.SearchRestrictions\":{\"Searchable\":false},\"@Capabilities.InsertRestrictions\":{\"Insertable\":false},",
     false, MEDIA_JSON},
    {"JSON: a set with all features has only its bindings", &shop, ODATA_4_0, &all,
     "\n\"order\":{\"$Collection\":true,\"$Type\":\"more.order\",\"$NavigationPropertyBinding\":{\"items\":\"It\xc3\xa4ms\",\"last\":\"It\xc3\xa4ms\"}}}},\n\"more\":{",
     false, MEDIA_JSON},
};

START_TEST(writes_csdl)
{
    const struct row *row = &rows[_i];
    struct bytes out;
    bytes_init(&out, 1 << 20);
    metadata_put(&out, row->model, row->version, row->media, row->features);
    bytes_put_char(&out, '\0');
    ck_assert(!bytes_failed(&out));
    ck_assert_msg((strstr(out.ptr, row->piece) == NULL) == row->absent, "%s:\n%s\n%s", row->name,
                  row->piece, out.ptr);
    bytes_fini(&out);
}
END_TEST

START_TEST(keeps_the_limit)
{
    struct bytes out;
    bytes_init(&out, 1000);
    metadata_put(&out, &shop, ODATA_4_0, MEDIA_XML, &none);
    ck_assert(bytes_failed(&out));
    bytes_fini(&out);
}
END_TEST

Suite *metadata_suite(void);

Suite *metadata_suite(void)
{
    Suite *s = suite_create("metadata");
    TCase *t = tcase_create("documents");
    tcase_add_loop_test(t, writes_csdl, 0, (int)ARRAY_SIZE(rows));
    tcase_add_test(t, keeps_the_limit);
    suite_add_tcase(s, t);
    return s;
}
