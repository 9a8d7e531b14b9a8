package dev.vivarium.core.store;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/// Work on a connection that the store lends for one call. Confined to that call.
///
/// The work must be short, must not retain the [Sql], and must not call the store again.
@FunctionalInterface
public interface SqlFunction<T extends @Nullable Object> {
    T apply(Sql sql) throws SQLException;
}
