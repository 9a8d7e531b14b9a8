package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// SQL text with arguments, on a connection that belongs to the current call. The text must be good for SQLite and
/// PostgreSQL alike; times are epoch milliseconds. Confined to the call it was lent to.
public final class Sql {
    private final Connection connection;

    Sql(Connection connection) {
        this.connection = connection;
    }

    /// Turns the row under the cursor into a value.
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet columns) throws SQLException;
    }

    /// Runs an insert, update or delete and returns how many rows it touched.
    public int update(String text, @Nullable Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(text, arguments)) {
            return statement.executeUpdate();
        }
    }

    public <T> List<T> list(String text, Row<T> row, @Nullable Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(text, arguments);
                ResultSet columns = statement.executeQuery()) {
            var rows = new ArrayList<T>();
            while (columns.next()) {
                rows.add(row.read(columns));
            }
            return rows;
        }
    }

    /// The first row, or nothing.
    public <T> Optional<T> first(String text, Row<T> row, @Nullable Object... arguments) throws SQLException {
        try (PreparedStatement statement = prepare(text, arguments);
                ResultSet columns = statement.executeQuery()) {
            return columns.next() ? Optional.of(row.read(columns)) : Optional.empty();
        }
    }

    private PreparedStatement prepare(String text, @Nullable Object... arguments) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(text);
        try {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            return statement;
        } catch (SQLException e) {
            statement.close();
            throw e;
        }
    }
}
