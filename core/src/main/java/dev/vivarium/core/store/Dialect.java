package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.SQLException;

/// Differences between the databases: how to connect, and how to prevent concurrent writers and migrations. The SQL is
/// the same. Immutable.
interface Dialect {
    int SQLITE_CORRUPT = 11;
    int SQLITE_NOTADB = 26;

    /// Returns the name of the database product.
    String name();

    /// Opens a connection with automatic commits off.
    Connection connect() throws SQLException;

    /// Opens the connection of the writer. Fails with [DatabaseInUse] if another server writes.
    default Connection connectToWrite() throws SQLException {
        return connect();
    }

    /// Reports whether the only error is a lost connection.
    static boolean isDisconnected(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("08") || state.startsWith("57P"));
    }

    /// Reports whether the file of an SQLite database is damaged, by SQLite's result codes.
    static boolean isDamage(SQLException failure) {
        return failure.getErrorCode() == SQLITE_CORRUPT || failure.getErrorCode() == SQLITE_NOTADB;
    }

    /// Lets one transaction at a time migrate the schema.
    void lockSchema(Sql sql) throws SQLException;
}
