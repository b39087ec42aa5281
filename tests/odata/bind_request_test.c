// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/support/bound_request.h"

enum {
    ARENA_BYTES = 4 * 1024 * 1024,
};

/* What binding says about a URL: a kind of plan and its context, or an error. */
static const struct row {
    const char *name;
    const char *url;
    int status;       /* 0: it binds */
    int kind;         /* enum plan_kind */
    const char *text; /* the context's fragment, or a part of the message */
} rows[] = {
    /* Paths (URL Conventions 4) and their context (Protocol 10) */
    {"the root is the service document", "", 0, PLAN_SERVICE_DOCUMENT, ""},
    {"$metadata stands alone", "$metadata", 0, PLAN_METADATA, ""},
    {"nothing follows $metadata", "$metadata/Products", 400, 0, NULL},
    {"an entity set is a collection", "Products", 0, PLAN_COLLECTION, "Products"},
    {"an unknown set is not found", "Prodcts", 404, 0, "did you mean 'Products'"},
    {"the model is no set", "metadata", 404, 0, "the model is at $metadata"},
    {"a key as a segment", "Products/1", 0, PLAN_ENTITY, "Products/$entity"},
    {"a string as a segment has no quotes", "Customers/O'N", 0, PLAN_ENTITY, "Customers/$entity"},
    {"behind a key that is a segment", "Products/1/Category", 0, PLAN_ENTITY, "Categories/$entity"},
    {"a key as a segment behind a navigation", "Categories/1/Products/2/Name", 0, PLAN_PROPERTY,
     NULL},
    {"a segment that is no value of the key", "Products/1x", 404, 0, "no property '1x'"},
    {"two keys", "Products/1/2", 404, 0, "no property '2' of Product"},
    {"a name of the type is no key", "Customers/Name", 404, 0,
     "a key of Customer must stand before"},
    {"a key of two parts has two segments", "Items/1", 404, 0, "'Line'"},
    {"$filter in the path", "Products/$filter(Price gt 1)", 0, PLAN_COLLECTION, "Products"},
    {"$filter in the path, with an alias", "Products/$filter(@f)/$count?@f=Price gt 1", 0,
     PLAN_COUNT, ""},
    {"$filter twice in the path", "Products/$filter(Price gt 1)/$filter(ID lt 9)/$ref", 0,
     PLAN_COLLECTION, "Collection($ref)"},
    {"$filter and a key", "Products/$filter(Price gt 1)/1", 0, PLAN_ENTITY, "Products/$entity"},
    {"$filter of one", "Products(1)/$filter(Price gt 1)", 400, 0, "$filter of a single entity"},
    {"$filter at the root", "$filter(true)", 400, 0, NULL},
    {"$filter of another type's property", "Products/$filter(City eq 'x')", 400, 0,
     "unknown property 'City'"},
    {"navigation behind $filter is not here", "Products/$filter(Price gt 1)/1/Category", 501, 0,
     "navigation behind $filter"},
    {"$filter of values is not here yet", "Products(1)/Tags/$filter($it eq 'x')", 501, 0, NULL},
    {"$compute behind $filter is not here", "Products/$filter(Price gt 1)?$compute=ID add 1 as x",
     501, 0, "together with $compute"},
    {"$each", "Products/$filter(Price gt 1)/$each", 0, PLAN_COLLECTION, "Products"},
    {"$each of one", "Products(1)/$each", 400, 0, "$each of no collection"},
    {"everything on two levels", "Products?$expand=*($levels=2)", 0, PLAN_COLLECTION, "Products"},
    {"another option of everything", "Products?$expand=*($top=1)", 400, 0,
     "only $levels can follow '*'"},
    {"a key gives one entity", "Products(1)", 0, PLAN_ENTITY, "Products/$entity"},
    {"a key can be named", "Products(ID=1)", 0, PLAN_ENTITY, "Products/$entity"},
    {"a key can be an alias", "Products(@k)?@k=1", 0, PLAN_ENTITY, "Products/$entity"},
    {"an alias in a circle is refused", "Products(@k)?@k=@l&@l=@k", 400, 0, "defined by itself"},
    {"an alternate key is found by name", "Employees(Badge=01234567-89ab-cdef-0123-456789abcdef)",
     0, PLAN_ENTITY, "Employees/$entity"},
    {"a key of two properties", "Items(OrderID=1,Line=2)", 0, PLAN_ENTITY, "Items/$entity"},
    {"the order of named keys is free", "Items(Line=2,OrderID=1)", 0, PLAN_ENTITY, NULL},
    {"half a key is refused", "Items(OrderID=1)", 400, 0, "2 properties"},
    {"one value for two properties is refused", "Items(1)", 400, 0, "2 properties"},
    {"the properties of the key are named", "Items(1)", 400, 0,
     "has 2 properties (OrderID, Line), found 1"},
    {"a property that is no key is refused", "Products(Name='x')", 400, 0, NULL},
    {"an unknown key property is named", "Products(nosuch=1)", 400, 0, "'nosuch'"},
    {"a key property named twice is refused", "Items(OrderID=1,OrderID=1)", 400, 0, NULL},
    {"a string is no integer key", "Products('1')", 400, 0, "found string"},
    {"a fraction is no integer key", "Products(1.5)", 400, 0, "1.5"},
    {"null is no key", "Products(null)", 400, 0, "null"},
    {"a key beyond its type binds, and finds nothing", "Products(99999999999999999999)", 0,
     PLAN_ENTITY, NULL},
    {"a key with quotes", "Customers('O''N')", 0, PLAN_ENTITY, "Customers/$entity"},
    {"a to-many navigation", "Categories(1)/Products", 0, PLAN_COLLECTION, "Products"},
    {"a key behind a navigation", "Categories(1)/Products(2)", 0, PLAN_ENTITY, "Products/$entity"},
    {"the parent says half of the key", "Orders(1)/Items(2)", 0, PLAN_ENTITY, "Items/$entity"},
    {"a to-one navigation", "Products(1)/Category", 0, PLAN_ENTITY, "Categories/$entity"},
    {"a key behind a single entity is refused", "Products(1)/Category(1)", 400, 0, NULL},
    {"a navigation of a collection is not found", "Products/Category", 404, 0, "key"},
    {"a long chain", "Items(OrderID=1,Line=1)/Product/Category/Products(2)/Suppliers", 0,
     PLAN_COLLECTION, "Suppliers"},
    {"a property", "Products(1)/Name", 0, PLAN_PROPERTY, "Products(1)/Name"},
    {"a property below a navigation", "Categories(1)/Products(2)/Name", 0, PLAN_PROPERTY,
     "Products(2)/Name"},
    {"a property of an entity without known key", "Products(1)/Category/Name", 0, PLAN_PROPERTY,
     "Products(1)/Category/Name"},
    {"a part of a complex property", "Customers('A%2FB')/Address/City", 0, PLAN_PROPERTY,
     "Customers('A%2FB')/Address/City"},
    {"an unknown property is not found", "Products(1)/nosuch", 404, 0, "nosuch"},
    {"an unknown part is not found", "Customers('A')/Address/nosuch", 404, 0, "nosuch"},
    {"nothing is below a string", "Products(1)/Name/x", 404, 0, NULL},
    {"a property of a collection is not found", "Products/Name", 404, 0, NULL},
    {"a raw value", "Products(1)/Name/$value", 0, PLAN_RAW_VALUE, ""},
    {"an entity has no raw value", "Products(1)/$value", 400, 0, "media"},
    {"a collection has no raw value", "Products(1)/Tags/$value", 400, 0, NULL},
    {"a complex value has no raw value", "Customers('A')/Address/$value", 400, 0, NULL},
    {"a count", "Products/$count", 0, PLAN_COUNT, ""},
    {"a count of values", "Products(1)/Tags/$count", 0, PLAN_COUNT, ""},
    {"an entity has no count", "Products(1)/$count", 400, 0, NULL},
    {"a count has no count", "Products/$count/$count", 400, 0, NULL},
    {"references", "Products/$ref", 0, PLAN_COLLECTION, "Collection($ref)"},
    {"one reference", "Products(1)/Category/$ref", 0, PLAN_ENTITY, "$ref"},
    {"a cast to the own type changes nothing", "Products/shop.Product(1)/shop.Product/Name", 0,
     PLAN_PROPERTY, "Products(1)/Name"},
    {"a cast to another type is not found", "Products/shop.Order", 404, 0, NULL},
    {"$all is not here", "$all", 501, 0, "$all"},
    {"$all of a type is its set", "$all/shop.Product", 0, PLAN_COLLECTION, "Products"},
    {"one of $all of a type", "$all/shop.Product(1)/Name", 0, PLAN_PROPERTY, "Products(1)/Name"},
    {"$all of no type", "$all/shop.Prodct", 404, 0, "shop.Prodct"},
    {"$all of something else", "$all/$count", 404, 0, NULL},
    {"$index is for inserts", "Products?$index=0", 400, 0, "insert"},
    {"$crossjoin is of no set", "$crossjoin(Products,Orders)", 0, PLAN_COLLECTION,
     "Collection(Edm.ComplexType)"},
    {"$crossjoin of what is not there", "$crossjoin(Products,Ordesr)", 404, 0, "'Orders'"},
    {"$crossjoin of one set twice", "$crossjoin(Products,Products)", 400, 0, "twice"},
    {"the count of a $crossjoin", "$crossjoin(Products,Orders)/$count", 0, PLAN_COUNT, NULL},
    {"rows of $crossjoin have no id", "$crossjoin(Products,Orders)/$ref", 400, 0, "no id"},
    {"rows of $crossjoin have no key", "$crossjoin(Products,Orders)(1)", 400, 0, NULL},
    {"$apply of $crossjoin is not here", "$crossjoin(Products,Orders)?$apply=identity", 501, 0,
     "$apply"},
    {"$compute of $crossjoin is not here", "$crossjoin(Products)?$compute=1 as one", 501, 0,
     "$compute"},
    {"$compute below $crossjoin is not here",
     "$crossjoin(Products)?$expand=Products($compute=1 as one)", 501, 0, "$compute"},
    {"$search of $crossjoin is not here", "$crossjoin(Products)?$search=a", 501, 0, "$crossjoin"},
    {"$entity is not here", "$entity?$id=Products(1)", 501, 0, "$entity"},
    /* $select and $expand */
    {"selected properties are in the context", "Products?$select=Name,Price", 0, PLAN_COLLECTION,
     "Products(Name,Price)"},
    {"a property selected twice is named once", "Products?$select=Name,Name", 0, PLAN_COLLECTION,
     "Products(Name)"},
    {"a star is selected", "Products?$select=*", 0, PLAN_COLLECTION, "Products(*)"},
    {"what is selected in an expansion is in the context",
     "Products?$select=Name&$expand=Category($select=Name)", 0, PLAN_COLLECTION,
     "Products(Name,Category(Name))"},
    {"an unknown selection", "Products?$select=Nam", 400, 0, "'Nam' of Product at byte 0"},
    {"a navigation's part is not selected", "Products?$select=Category/Name", 400, 0, "$expand"},
    {"a navigation's part, written as $expand", "Products?$select=Category/Name", 400, 0,
     "'Category' at byte 0 of $select is a navigation property: its parts are selected in "
     "$expand; write $expand=Category($select=Name)"},
    {"a property behind a navigation is not expanded", "Products?$expand=Category/Name", 400, 0,
     "'Name' at byte 0 of $expand is no navigation property; write Category($select=Name)"},
    {"an alias with its value in $expand",
     "Categories?$expand=Products(@m=1;$filter=ID eq @m)&@m=2", 0, PLAN_COLLECTION, NULL},
    {"$it two levels deep", "Categories?$expand=Products($expand=Items($filter=$it/ID eq 1))", 501,
     0, "second level of $expand"},
    {"a set of $root that there is not", "Products?$filter=$root/Product(1)/ID eq 1", 400, 0,
     "unknown entity set 'Product' at byte 6 of $filter; did you mean 'Products'?"},
    {"$root alone", "Products?$filter=$root eq 1", 400, 0, "an entity set must follow $root/"},
    {"a set of $root as a value", "Products?$filter=$root/Products/ID eq 1", 400, 0,
     "is a collection"},
    {"a key of $root of another type", "Products?$filter=$root/Products('a')/ID eq 1", 400, 0,
     "expected Edm.Int32 for 'ID', found string"},
    {"options in $select",
     "Products?$select=Name,Tags($filter=$this ne 'x';$orderby=$this desc;"
     "$skip=1;$top=1;$count=true)",
     0, PLAN_COLLECTION, "Products(Name,Tags)"},
    {"$it in $select is the entity", "Products?$select=Tags($filter=$this eq $it/Name)", 0,
     PLAN_COLLECTION, NULL},
    {"parts of a complex value", "Customers?$select=Address/City,Address/Zip", 0, PLAN_COLLECTION,
     "Customers(Address/City,Address/Zip)"},
    {"parts in parentheses", "Customers?$select=ID,Address($select=City,Zip)", 0, PLAN_COLLECTION,
     "Customers(ID,Address/City,Address/Zip)"},
    {"all parts", "Customers?$select=Address($select=*)", 0, PLAN_COLLECTION, "Customers(Address)"},
    {"a part behind its type", "Customers?$select=Address/shop.Address/City", 0, PLAN_COLLECTION,
     NULL},
    {"a part that is not there", "Customers?$select=Address/Citty", 400, 0,
     "unknown property 'Citty' of Address"},
    {"a part of a part that has none", "Customers?$select=Address/City/x", 400, 0, "has no parts"},
    {"a part of a primitive property", "Customers?$select=Name/x", 400, 0, "has no parts"},
    {"$top of a complex value", "Customers?$select=Address($select=City;$top=1)", 400, 0,
     "options of a collection do not fit a single value"},
    {"options of a primitive property", "Products?$select=Name($top=1)", 400, 0, "has no options"},
    {"options of a navigation in $select", "Products?$select=Suppliers($top=1)", 400, 0,
     "options stand in $expand"},
    {"$search of values is not here", "Products?$select=Tags($search=x)", 501, 0, "$search"},
    {"a type in $select", "Products?$select=Tags($filter=$this eq 1)", 400, 0,
     "expected Edm.String"},
    {"an order of values", "Products?$select=Tags($orderby=length($this),$this)", 0,
     PLAN_COLLECTION, NULL},
    {"a property cannot be expanded", "Products?$expand=Name", 400, 0,
     "'Name' at byte 0 of $expand is no navigation property"},
    {"an unknown expansion", "Products?$expand=nosuch", 400, 0, "nosuch"},
    {"an expansion twice", "Products?$expand=Category,Category", 400, 0, "twice"},
    {"a filter of a to-one expansion", "Products?$expand=Category($filter=ID eq 1)", 400, 0,
     "$filter does not fit"},
    {"$count of a to-one expansion", "Products?$expand=Category/$count", 400, 0, NULL},
    {"$search in an expansion", "Categories?$expand=Products($search=x)", 0, PLAN_COLLECTION,
     "Categories"},
    {"$search of a to-one expansion", "Products?$expand=Category($search=x)", 400, 0,
     "$search does not fit"},
    {"$search in a count", "Categories?$filter=Products/$count($search=x) gt 1", 0, PLAN_COLLECTION,
     "Categories"},
    {"$levels=0", "Employees?$expand=Reports($levels=0)", 400, 0, NULL},
    {"an error in a nested option", "Categories?$expand=Products($filter=nosuch eq 1)", 400, 0,
     "nosuch"},
    {"everything is expanded", "Products?$expand=*", 0, PLAN_COLLECTION, "Products"},
    /* Options that do not fit the resource */
    {"$filter of an entity", "Products(1)?$filter=ID eq 1", 400, 0, "$filter does not fit"},
    {"$top of an entity", "Products(1)?$top=1", 400, 0, "$top does not fit"},
    {"$select of a property", "Products(1)/Name?$select=x", 400, 0, "$select does not fit"},
    {"$select of references", "Products/$ref?$select=ID", 400, 0, "$select does not fit"},
    {"$filter of values", "Products(1)/Tags?$filter=$it eq 'x'", 0, PLAN_PROPERTY,
     "Products(1)/Tags"},
    {"all options of values",
     "Products(1)/Tags?$filter=$this ne 'x'&$orderby=$this desc&$top=1&$skip=1&$count=true", 0,
     PLAN_PROPERTY, "Products(1)/Tags"},
    {"$filter of the number of values", "Products(1)/Tags/$count?$filter=$it eq 'x'", 0, PLAN_COUNT,
     ""},
    {"$filter of a complex value", "Customers('A')/Address?$filter=City eq 'x'", 400, 0,
     "$filter does not fit"},
    {"$search of values is not here, either", "Products(1)/Tags?$search=x", 501, 0, "$search"},
    {"$top does not change a count", "Products/$count?$top=1", 0, PLAN_COUNT, ""},
    {"$search", "Products?$search=x", 0, PLAN_COLLECTION, "Products"},
    {"$search of a count", "Products/$count?$search=x", 0, PLAN_COUNT, ""},
    {"$search of an entity", "Products(1)?$search=x", 400, 0, "$search does not fit"},
    {"$search of what has no text", "Suppliers?$search=x", 501, 0, "cannot be searched"},
    {"an operator of $search without its terms", "Products?$search=blue AND", 400, 0,
     "'AND' joins terms, and one is missing at byte 5 of $search; the word itself is written "
     "\"AND\""},
    {"half a phrase", "Products?$search=\"blue", 400, 0, "no second '\"' at byte 0 of $search"},
    {"an aggregation names what its rows have", "Products?$apply=aggregate(ID with sum as x)", 0,
     PLAN_COLLECTION, "Products(x)"},
    {"groups have their paths", "Products?$apply=groupby((Category/Name,Price))", 0,
     PLAN_COLLECTION, "Products(Price,Category(Name))"},
    {"a group by an entity", "Products?$apply=groupby((Category),aggregate($count as n))", 0,
     PLAN_COLLECTION, "Products(n,Category())"},
    {"rows of two kinds have nothing in common",
     "Products?$apply=concat(aggregate(ID with sum as x),aggregate(ID with sum as y))", 0,
     PLAN_COLLECTION, "Products(@Core.AnyStructure)"},
    {"a rollup has what all levels have", "Products?$apply=groupby((rollup(Category/Name,Name)))",
     0, PLAN_COLLECTION, "Products(Category(Name))"},
    {"rows that are chosen stay entities", "Products?$apply=filter(ID gt 1)/top(2)", 0,
     PLAN_COLLECTION, "Products"},
    {"what is aggregated away is unknown",
     "Products?$apply=aggregate(ID with sum as x)&$filter=ID eq 1", 400, 0,
     "unknown property 'ID' of Product at byte 0 of $filter"},
    {"a collection is no group", "Categories?$apply=groupby((Products/Name))", 400, 0,
     "collection"},
    {"$apply of an entity", "Products(1)?$apply=identity", 400, 0, "$apply does not fit"},
    {"too many kinds of rows",
     "Products?$apply=groupby((rollup($all,ID,Name,Price),rollup($all,ID,Name,Price),"
     "rollup($all,ID,Name,Price),rollup($all,ID,Name,Price)))",
     400, 0, "more than 64"},
    {"nest", "Categories?$apply=nest(identity as p,filter(ID eq 1) as q)", 0, PLAN_COLLECTION,
     "Categories(p(),q())"},
    {"addnested", "Categories?$apply=addnested(Products,filter(Price gt 1) as p)", 0,
     PLAN_COLLECTION, "Categories(p())"},
    {"addnested of one entity", "Products?$apply=addnested(Category,filter(true) as c)", 400, 0,
     "'filter' at byte 19 of $apply does not fit a single entity"},
    {"a name that is taken", "Categories?$apply=addnested(Products,identity as Products)", 400, 0,
     "'Products' at byte 31 of $apply is a name of Category already"},
    {"aggregate in an expression", "Categories?$filter=Products/aggregate(Price with sum) gt 1", 0,
     PLAN_COLLECTION, "Categories"},
    {"aggregate of what is no collection", "Products?$filter=Category/aggregate(ID with sum) gt 1",
     400, 0, "'Category' at byte 0 of $filter is no collection"},
    {"these without a collection", "Products(1)?$compute=$these/$count as n", 400, 0,
     "no collection here for $these at byte 0 of $compute"},
    {"$apply in $expand", "Categories?$expand=Products($apply=aggregate(Price with sum as s))", 0,
     PLAN_COLLECTION, "Categories(Products(s))"},
    {"$apply of one expanded entity", "Products?$expand=Category($apply=identity)", 400, 0,
     "$apply does not fit 'Category'"},
    {"a join of what is to one", "Products?$apply=join(Category as c)", 400, 0,
     "'Category' at byte 5 of $apply is no collection"},
    {"a join", "Categories?$apply=join(Products as p)&$expand=p", 0, PLAN_COLLECTION, NULL},
    {"computed values come with the others", "Products?$compute=ID add 1 as x", 0, PLAN_COLLECTION,
     "Products(*,x)"},
    {"computed values can be selected", "Products?$compute=ID add 1 as x&$select=x,Name", 0,
     PLAN_COLLECTION, "Products(x,Name)"},
    {"a computed value of an entity", "Products(1)?$compute=Price mul 2 as x&$select=x", 0,
     PLAN_ENTITY, "Products(x)/$entity"},
    {"a name of the type cannot be given again", "Products?$compute=ID add 1 as Name", 400, 0,
     "'Name' at byte 12 of $compute is a name of Product already"},
    {"nor one of a navigation property", "Products?$compute=ID add 1 as Category", 400, 0,
     "'Category' at byte 12"},
    {"nor one that is computed already", "Products?$compute=ID as x,ID as x", 400, 0,
     "'x' at byte 14 of $compute is given twice"},
    {"nor one that is computed before", "Products?$compute=ID as x,x add 1 as x", 400, 0,
     "'x' at byte 19"},
    {"one computed value can use another", "Products?$compute=ID add 1 as x,x mul 2 as y", 0,
     PLAN_COLLECTION, "Products(*,x,y)"},
    {"not one that comes later", "Products?$compute=y mul 2 as x,ID as y", 400, 0,
     "unknown property 'y' of Product at byte 0 of $compute"},
    {"an unknown name in $compute", "Products?$compute=Nmae as x", 400, 0, "did you mean 'Name'?"},
    {"null alone has no type", "Products?$compute=null as x", 400, 0, "no type"},
    {"an entity is no value", "Products?$compute=Category as x", 400, 0, "an entity is no value"},
    {"$compute of a property is not here", "Products(1)/Tags?$compute=1 as x", 501, 0, "$compute"},
    {"computed in an expanded collection",
     "Categories?$expand=Products($compute=Price mul 2 as x;$filter=x gt 1;$select=x)", 0,
     PLAN_COLLECTION, "Categories(Products(x))"},
    {"the latest schema version is there", "Products?$schemaversion=*", 0, PLAN_COLLECTION, NULL},
    {"another schema version is not", "Products?$schemaversion=7", 404, 0, "7"},
    {"a token from nowhere", "Products?$skiptoken=abc", 400, 0, NULL},
    {"an empty token", "Products?$skiptoken=", 400, 0, NULL},
    /* Names and types in $filter */
    {"an unknown name tells its byte", "Products?$filter=ID eq 1 and Nme eq 1", 400, 0,
     "'Nme' of Product at byte 12 of $filter; did you mean 'Name'"},
    {"a string without quotes", "Products?$filter=Name eq Oak", 400, 0,
     "unknown property 'Oak' of Product at byte 8 of $filter; strings stand in single quotes"},
    {"an argument without quotes", "Products?$filter=contains(Name,Oak)", 400, 0,
     "strings stand in single quotes"},
    {"an item without quotes", "Products?$filter=Name in (Oak,Elm)", 400, 0,
     "strings stand in single quotes"},
    {"an entity and a value", "Products?$filter=Category eq 5", 400, 0,
     "an entity is compared by its key, Category/ID"},
    {"names are case-sensitive", "Products?$filter=NAME eq 'x'", 400, 0, "did you mean 'Name'"},
    {"a string is no number", "Products?$filter=ID eq 'x'", 400, 0,
     "expected Edm.Int32, found string at byte 6"},
    {"a number is no string", "Products?$filter=Name eq 1", 400, 0, "expected Edm.String"},
    {"a number is no Boolean", "Products?$filter=Discontinued eq 1", 400, 0,
     "expected Edm.Boolean"},
    {"a filter must be Boolean", "Products?$filter=ID", 400, 0,
     "expected Edm.Boolean, found Edm.Int32"},
    {"a filter must be no number", "Products?$filter=1 add 1", 400, 0, "expected Edm.Boolean"},
    {"an operand of and must be Boolean", "Products?$filter=Discontinued and 'x'", 400, 0,
     "expected Edm.Boolean, found string"},
    {"strings are not added", "Products?$filter=Name add 1 eq 2", 400, 0, "'add'"},
    {"two properties that cannot meet", "Products?$filter=Name eq ID", 400, 0,
     "Edm.String and Edm.Int32"},
    {"a collection has no order", "Products?$orderby=Tags", 400, 0, "no order"},
    {"a complex value has no order", "Customers?$orderby=Address", 400, 0, "no order"},
    {"a to-many navigation needs a lambda", "Categories?$filter=Products/Price gt 1", 400, 0,
     "any, all or $count"},
    {"a string has no parts", "Products?$filter=Name/x eq 1", 400, 0, "'x'"},
    {"a lambda variable is known inside only", "Categories?$filter=Products/any(p:q/ID eq 1)", 400,
     0, "'q'"},
    {"a lambda needs a collection", "Products?$filter=Name/any(x:x eq 'a')", 400, 0,
     "no collection"},
    {"an unknown member of an enum", "Products?$filter=Color eq 'purple'", 400, 0, "purple"},
    {"nearly a member of an enum", "Products?$filter=Color eq 'rde'", 400, 0,
     "is no member of shop.Color; did you mean 'red'?"},
    {"an enum literal with its type", "Products?$filter=Color eq shop.Color'red'", 0,
     PLAN_COLLECTION, NULL},
    {"a date that is none", "Products?$filter=Released eq 2011-02-29", 400, 0, NULL},
    {"a quoted date is taken", "Products?$filter=Released eq '2011-02-28'", 0, PLAN_COLLECTION,
     NULL},
    {"a quoted text that is no date", "Products?$filter=Released eq 'x'", 400, 0, "Edm.Date"},
    {"the form of a date", "Products?$filter=Released eq 'x'", 400, 0,
     "'x' at byte 12 of $filter is no Edm.Date; write it as 2024-01-01"},
    {"the form of a date-time, for a date", "Orders?$filter=Placed gt 2024-01-01", 400, 0,
     "expected Edm.DateTimeOffset, found date at byte 10 of $filter; write it as "
     "2024-01-01T00:00:00Z"},
    {"the form of a date-time, for a string", "Orders?$filter=Placed gt 'yesterday'", 400, 0,
     "is no Edm.DateTimeOffset; write it as 2024-01-01T00:00:00Z"},
    {"a misspelled right side is no string", "Products?$filter=Name eq Nme", 400, 0,
     "of $filter; did you mean 'Name'?"},
    {"the form of a time", "Orders?$filter=ShipTime eq 7", 400, 0, "write it as 07:59:00"},
    {"the form of a duration", "Orders?$filter=Handling eq 7", 400, 0,
     "write it as duration'PT1H'"},
    {"the form of a guid", "Employees?$filter=Badge eq 'x'", 400, 0, "write it as 01234567-"},
    {"a quoted guid is taken", "Employees?$filter=Badge eq '01234567-89ab-cdef-0123-456789abcdef'",
     0, PLAN_COLLECTION, NULL},
    {"a quoted text that is no guid", "Employees?$filter=Badge eq 'x'", 400, 0, "Edm.Guid"},
    {"a time that is none", "Orders?$filter=ShipTime eq '24:00:00'", 400, 0, NULL},
    {"a duration of years", "Orders?$filter=Handling eq 'P1Y'", 400, 0, "Edm.Duration"},
    {"a character that PostgreSQL cannot hold", "Products?$filter=contains(Name,'%00')", 400, 0,
     NULL},
    {"an unknown function", "Products?$filter=nosuchfunc(Name)", 400, 0, "nosuchfunc"},
    {"a function nearly right", "Products?$filter=startwith(Name,'x')", 400, 0,
     "unknown function 'startwith' at byte 0 of $filter; did you mean 'startswith'?"},
    {"a function of version 3", "Products?$filter=substringof('x',Name)", 400, 0,
     "in version 4 it is contains()"},
    {"a cast to a type that there is not", "Products?$filter=cast(Name,Edm.Int3) eq 1", 400, 0,
     "unknown type 'Edm.Int3' at byte 10 of $filter; did you mean 'Edm.Int32'"},
    {"too many arguments", "Products?$filter=length(Name,1) eq 1", 400, 0, "length"},
    {"an argument of another type", "Products?$filter=contains(ID,'3')", 400, 0,
     "contains() takes Edm.String, found Edm.Int32"},
    {"a collection and a value", "Products?$filter=contains(Tags,'a')", 400, 0,
     "contains() takes a collection, found Edm.String"},
    {"collections that cannot meet", "Products?$filter=hassubset(Tags,[1])", 400, 0,
     "expected Edm.String, found integer at byte 16"},
    {"a subset of a value", "Products?$filter=hassubset(Name,['a'])", 400, 0,
     "hassubset() takes a collection, found Edm.String at byte 10"},
    {"an array with a value", "Products?$filter=ID eq [1]", 400, 0,
     "an array cannot be compared with Edm.Int32 at byte 6"},
    {"an object with a value", "Products?$filter=ID eq {\"a\":1}", 400, 0, "an object cannot"},
    {"an object with another member", "Customers?$filter=Address eq {\"Town\":1}", 400, 0,
     "unknown property 'Town' of Address at byte 12"},
    {"arrays have no order", "Products?$filter=Tags lt ['a']", 400, 0, "have no order"},
    {"mixed items", "Products?$filter=[1,'a']/any()", 400, 0, NULL},
    {"an unfinished pattern", "Products?$filter=matchesPattern(Name,'a(b')", 400, 0,
     "the parenthesis is not closed, at character 1 of the pattern at byte 20"},
    {"a pattern of back references", "Products?$filter=matchesPattern(Name,'(a)\\1')", 501, 0,
     "a back reference"},
    {"a pattern out of a column", "Products?$filter=matchesPattern(Name,Name)", 501, 0,
     "no literal"},
    {"an hour of another zone", "Products?$filter=hour(2020-01-01T00:00:00%2B01:00) eq 0", 400, 0,
     "hour() of a literal needs one in UTC"},
    {"a year of a collection is nothing", "Products?$filter=year(Tags) eq 1", 400, 0,
     "year() takes"},
    {"a length before 0", "Products?$filter=substring(Name,1,-2) eq 'x'", 400, 0,
     "takes a length from 0 on"},
    {"a position beyond 32 bits", "Products?$filter=substring(Name,3000000000) eq 'x'", 400, 0,
     "takes a position of 32 bits"},
    {"a fraction is no position", "Products?$filter=substring(Name,1.5) eq 'x'", 400, 0, NULL},
    {"hour of a date", "Products?$filter=hour(Released) eq 1", 400, 0, "hour()"},
    {"a list of other types", "Products?$filter=ID in (1,'x')", 400, 0, "found string"},
    {"in without a list", "Products?$filter=ID in 1", 400, 0, NULL},
    {"an alias that is not given is null", "Products?$filter=Price eq @p", 0, PLAN_COLLECTION,
     NULL},
    {"a circle of aliases", "Products?$filter=Price gt @a&@a=@b&@b=@a", 400, 0, "itself"},
    {"a circle through an expression", "Products?$filter=Price gt @a&@a=@a add 1", 400, 0,
     "nested deeper"},
};

static void check_row(const struct row *row)
{
    struct bound_request r;
    bool ok = bound_request_init(&r, row->url, NULL, ARENA_BYTES);
    if (row->status == 0) {
        ck_assert_msg(ok, "%s: %s", row->name, r.err.message);
        ck_assert_int_eq((int)r.plan->kind, row->kind);
        if (row->text != NULL) {
            ck_assert_str_eq(r.plan->context_fragment.ptr, row->text);
        }
    } else {
        ck_assert_msg(!ok, "%s: it binds", row->name);
        ck_assert_msg(r.err.http_status == row->status, "%s: %d %s", row->name, r.err.http_status,
                      r.err.message);
        ck_assert_msg(row->text == NULL || strstr(r.err.message, row->text) != NULL, "%s: %s",
                      row->name, r.err.message);
    }
    bound_request_fini(&r);
}

START_TEST(binds_url)
{
    check_row(&rows[_i]);
}
END_TEST

/* Where no string could stand, or another name is near, quotes are not what is missing. */
static const char *const without_quotes_hint[] = {
    "Products?$filter=Price gt nosuch",
    "Products?$filter=Name eq Nme",
    "Products?$filter=nosuch eq 'x'",
    "Products?$filter=Name eq Category/nosuch",
    "Products?$filter=Name eq nosuch/Name",
    "Products?$filter=year(nosuch) eq 1",
    "Products?$orderby=nosuch",
    "Products?$select=nosuch",
    "Products?$expand=nosuch",
};

START_TEST(hints_at_quotes_for_strings_only)
{
    struct bound_request r;
    ck_assert(!bound_request_init(&r, without_quotes_hint[_i], NULL, ARENA_BYTES));
    ck_assert_msg(strstr(r.err.message, "unknown property") != NULL, "%s", r.err.message);
    ck_assert_msg(strstr(r.err.message, "quotes") == NULL, "%s", r.err.message);
    bound_request_fini(&r);
}
END_TEST

/* With an arena of every size up to the one that is enough: complete, or RequestTooComplex. */
START_TEST(keeps_to_its_arena)
{
    struct bound_request r;
    bool whole = bound_request_init(&r, rows[_i].url, NULL, ARENA_BYTES);
    struct odata_error expected = r.err;
    size_t enough = r.arena.used_bytes;
    bound_request_fini(&r);
    for (size_t limit = 0; limit <= enough; limit += 1 + limit / 16) {
        bool ok = bound_request_init(&r, rows[_i].url, NULL, limit);
        ck_assert_msg(!ok || whole, "%s: binds with %zu bytes only", rows[_i].name, limit);
        if (!ok) {
            bool complex = strcmp(r.err.code, ODATA_CODE_REQUEST_TOO_COMPLEX) == 0;
            ck_assert_msg(complex || (!whole && strcmp(r.err.code, expected.code) == 0),
                          "%s: %s with %zu bytes", rows[_i].name, r.err.message, limit);
        }
        bound_request_fini(&r);
    }
}
END_TEST

/* Every prefix of every row binds or fails with a status of its own; nothing crashes. */
START_TEST(takes_every_prefix)
{
    size_t len = strlen(rows[_i].url);
    for (size_t n = 0; n <= len; n++) {
        char *copy = malloc(n + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, rows[_i].url, n);
        copy[n] = '\0';
        struct bound_request r;
        if (!bound_request_init(&r, copy, NULL, ARENA_BYTES)) {
            ck_assert_int_ge(r.err.http_status, 400);
            ck_assert_msg(r.err.http_status < 500 || r.err.http_status == 501, "%s: %s", copy,
                          r.err.message);
            ck_assert_msg(r.err.message[0] != '\0', "%s: no message", copy);
        }
        bound_request_fini(&r);
        free(copy);
    }
}
END_TEST

/* How a request is paged: what the options say, and what the plan says. */
static const struct paging_row {
    const char *name;
    const char *url;
    uint64_t client;
    uint64_t global;
    uint64_t page_rows;
    bool resumable;
    size_t order_count;
    bool has_top;
    uint64_t top;
    uint64_t skip;
} paging_rows[] = {
    {"a full feed has no order", "Products", 0, 0, 0, false, 0, false, 0, 0},
    {"the key follows the order", "Products?$orderby=Name", 0, 0, 0, true, 2, false, 0, 0},
    {"the key is not ordered by twice", "Products?$orderby=ID desc", 0, 0, 0, true, 1, false, 0, 0},
    {"$top orders by the key", "Items?$top=2", 0, 0, 0, true, 2, true, 2, 0},
    {"$skip orders by the key", "Products?$skip=2", 0, 0, 0, true, 1, false, 0, 2},
    {"the client's page counts", "Products", 5, 0, 5, true, 1, false, 0, 0},
    {"the smaller page counts", "Products", 5, 3, 3, true, 1, false, 0, 0},
    {"an entity has no pages", "Products(1)", 5, 3, 0, false, 0, false, 0, 0},
    {"ordering by null orders nothing", "Products?$orderby=null", 0, 0, 0, true, 1, false, 0, 0},
    {"a big $top is kept", "Products?$top=18446744073709551615", 0, 0, 0, true, 1, true, INT64_MAX,
     0},
};

START_TEST(pages)
{
    const struct paging_row *row = &paging_rows[_i];
    struct bind_options options = {.client_page_size = row->client, .max_page_size = row->global};
    struct bound_request r;
    ck_assert_msg(bound_request_init(&r, row->url, &options, ARENA_BYTES), "%s: %s", row->name,
                  r.err.message);
    const struct read *read = r.plan->read;
    ck_assert_msg(read->page_rows == row->page_rows, "%s", row->name);
    ck_assert_msg(read->resumable == row->resumable, "%s", row->name);
    ck_assert_msg(read->order_count == row->order_count, "%s", row->name);
    ck_assert_msg(read->has_top == row->has_top && read->top == row->top, "%s", row->name);
    ck_assert_msg(read->skip == row->skip, "%s", row->name);
    bound_request_fini(&r);
}
END_TEST

/* Two URLs whose skip tokens are, or are not, each other's. */
static const struct token_row {
    const char *name;
    const char *a;
    const char *b;
    bool same;
} token_rows[] = {
    {"$top, $select and $expand may change", "Products?$orderby=Name&$top=9",
     "Products?$orderby=Name&$top=8&$select=ID&$expand=Category", true},
    {"another set", "Products?$top=1", "Orders?$top=1", false},
    {"another key in the path", "Categories(1)/Products?$top=1", "Categories(2)/Products?$top=1",
     false},
    {"another filter value", "Products?$top=1&$filter=ID eq 1", "Products?$top=1&$filter=ID eq 2",
     false},
    {"another operator", "Products?$top=1&$filter=ID lt 1", "Products?$top=1&$filter=ID gt 1",
     false},
    {"another value behind the same alias", "Products?$top=1&$filter=ID eq @a&@a=1",
     "Products?$top=1&$filter=ID eq @a&@a=2", false},
    {"another direction", "Products?$orderby=Name", "Products?$orderby=Name desc", false},
    {"a filter or none", "Products?$top=1", "Products?$top=1&$filter=ID eq 1", false},
    {"another end of a long chain", "Products?$top=1&$filter=ID eq 1 or ID eq 2 or ID eq 3",
     "Products?$top=1&$filter=ID eq 4 or ID eq 2 or ID eq 3", false},
};

START_TEST(ties_tokens_to_queries)
{
    const struct token_row *row = &token_rows[_i];
    struct bound_request a;
    struct bound_request b;
    ck_assert_msg(bound_request_init(&a, row->a, NULL, ARENA_BYTES), "%s", a.err.message);
    ck_assert_msg(bound_request_init(&b, row->b, NULL, ARENA_BYTES), "%s", b.err.message);
    bool same = a.plan->read->token_check == b.plan->read->token_check;
    ck_assert_msg(same == row->same, "%s", row->name);
    bound_request_fini(&a);
    bound_request_fini(&b);
}
END_TEST

/* A chain of many terms is no deep expression; many parentheses are. */
START_TEST(binds_long_chains)
{
    enum {
        TERMS = 2000
    };
    char *url = malloc(TERMS * 16 + 32);
    ck_assert_ptr_nonnull(url);
    size_t at = (size_t)sprintf(url, "Products?$filter=ID eq 0");
    for (int i = 1; i < TERMS; i++) {
        at += (size_t)sprintf(url + at, " or ID eq %d", i);
    }
    struct bound_request r;
    ck_assert_msg(bound_request_init(&r, url, NULL, (size_t)8 * 1024 * 1024), "%s", r.err.message);
    bound_request_fini(&r);
    free(url);
}
END_TEST

Suite *bind_request_suite(void);

Suite *bind_request_suite(void)
{
    Suite *suite = suite_create("bind_request");
    TCase *tc = tcase_create("bind_request");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, binds_url, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_loop_test(tc, hints_at_quotes_for_strings_only, 0,
                        (int)ARRAY_SIZE(without_quotes_hint));
    tcase_add_loop_test(tc, keeps_to_its_arena, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_loop_test(tc, takes_every_prefix, 0, (int)(sizeof(rows) / sizeof(rows[0])));
    tcase_add_loop_test(tc, pages, 0, (int)(sizeof(paging_rows) / sizeof(paging_rows[0])));
    tcase_add_loop_test(tc, ties_tokens_to_queries, 0,
                        (int)(sizeof(token_rows) / sizeof(token_rows[0])));
    tcase_add_test(tc, binds_long_chains);
    suite_add_tcase(suite, tc);
    return suite;
}
