// SPDX-License-Identifier: Apache-2.0
/*
 * shop_model - a small model of a shop, for tests that need no database, and the SQL of the same
 * tables for those that have one.
 *
 *     Categories(ID)            Products(ID) -> Category, <-> Suppliers through product_suppliers
 *     Customers(ID text)        Orders(ID int8) -> Customer, Employee
 *     Items(OrderID, Line)      -> Order, Product
 *     Employees(ID, alternate key Badge) -> Manager, Reports
 *     Rates(Currency char(3), ValidFrom date)
 *     Ticks(ID): paging material with ties and nulls
 *
 * The namespace is `shop`; columns are the properties' names in snake case.
 */
#ifndef TESTS_SUPPORT_SHOP_MODEL_H
#define TESTS_SUPPORT_SHOP_MODEL_H

#include "odata/model.h"

/* A sealed model with one reference; ends the process when memory is short. */
struct model *shop_model_new(void);

/* Texts of statements that make and fill the tables in a schema `shop`, which they drop before;
   to be sent one by one. NULL is the last. */
extern const char *const shop_model_sql[];

#endif
