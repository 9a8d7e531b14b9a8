package dev.vivarium.core.store;

import java.sql.SQLException;

/// Failure to open the database because another server writes to it. Immutable.
final class DatabaseInUse extends SQLException {
    private static final long serialVersionUID = 1;

    DatabaseInUse(PostgresAddress address, SQLException cause) {
        super(address + " is in use by another server; stop it, or choose another database", cause);
    }
}
