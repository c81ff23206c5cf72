package org.sparkkinesis.integration.sql

import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension

/** A session catalog that passes every call on. */
class BareSessionCatalog extends DelegatingCatalogExtension
