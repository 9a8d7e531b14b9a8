package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.SQLException;

/// What is different from one database to the other: how one connects, and what keeps two servers from writing or
/// changing the schema at once. The SQL is the same. Immutable.
interface Dialect {
    int SQLITE_CORRUPT = 11;
    int SQLITE_NOTADB = 26;

    /// As operators know it.
    String name();

    /// Opens a connection with automatic commits off.
    Connection connect() throws SQLException;

    /// The same for the one who writes; fails with [DatabaseInUse] while somebody else does.
    default Connection connectToWrite() throws SQLException {
        return connect();
    }

    /// Reports whether a connection is gone, and nothing else is wrong.
    static boolean isDisconnected(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && (state.startsWith("08") || state.startsWith("57P"));
    }

    /// Reports whether the file of an SQLite database is damaged, by SQLite's result codes.
    static boolean isDamage(SQLException failure) {
        return failure.getErrorCode() == SQLITE_CORRUPT || failure.getErrorCode() == SQLITE_NOTADB;
    }

    /// Lets one transaction at a time bring the schema up to date.
    void lockSchema(Sql sql) throws SQLException;
}
