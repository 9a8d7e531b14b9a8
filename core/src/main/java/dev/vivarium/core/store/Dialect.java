package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.SQLException;

/// What is different from one database to the other: how one connects, and what keeps two servers from changing the
/// schema at once. The SQL is the same. Immutable.
interface Dialect {
    /// As operators know it.
    String name();

    /// Opens a connection with automatic commits off.
    Connection connect() throws SQLException;

    /// Lets one transaction at a time bring the schema up to date.
    void lockSchema(Sql sql) throws SQLException;
}
