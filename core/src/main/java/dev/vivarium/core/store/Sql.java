package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// SQL text with arguments, on a connection that belongs to the current call. The text must be good for SQLite and
/// PostgreSQL alike; times are epoch milliseconds. Confined to the call it was lent to.
///
/// Statements are kept for the next call that has the same text: to prepare one takes longer than to run it.
public final class Sql {
    private static final int KEPT = 64;

    private final Connection connection;
    private final Map<String, PreparedStatement> kept = new HashMap<>();

    Sql(Connection connection) {
        this.connection = connection;
    }

    Connection connection() {
        return connection;
    }

    /// Turns the row under the cursor into a value.
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet columns) throws SQLException;
    }

    /// Runs an insert, update or delete and returns how many rows it touched.
    public int update(String text, @Nullable Object... arguments) throws SQLException {
        return run(text, PreparedStatement::executeUpdate, arguments);
    }

    /// Runs one insert, update or delete for each list of arguments, as one call to the database.
    public void updateAll(String text, List<List<Object>> rows) throws SQLException {
        run(text, statement -> {
            for (List<Object> row : rows) {
                for (int i = 0; i < row.size(); i++) {
                    statement.setObject(i + 1, row.get(i));
                }
                statement.addBatch();
            }
            return statement.executeBatch();
        });
    }

    public <T> List<T> list(String text, Row<T> row, @Nullable Object... arguments) throws SQLException {
        return listWhile(text, row, _ -> true, arguments);
    }

    /// The rows from the first to the one after which `more` are not wanted.
    public <T> List<T> listWhile(String text, Row<T> row, Predicate<T> more, @Nullable Object... arguments)
            throws SQLException {
        return run(
                text,
                statement -> {
                    try (ResultSet columns = statement.executeQuery()) {
                        var rows = new ArrayList<T>();
                        while (columns.next()) {
                            rows.add(row.read(columns));
                            if (!more.test(rows.getLast())) {
                                break;
                            }
                        }
                        return rows;
                    }
                },
                arguments);
    }

    /// The first row, or nothing.
    public <T> Optional<T> first(String text, Row<T> row, @Nullable Object... arguments) throws SQLException {
        return run(
                text,
                statement -> {
                    try (ResultSet columns = statement.executeQuery()) {
                        return columns.next() ? Optional.of(row.read(columns)) : Optional.empty();
                    }
                },
                arguments);
    }

    @FunctionalInterface
    private interface Step<T> {
        T run(PreparedStatement statement) throws SQLException;
    }

    /// A statement that failed may never work again, whatever it failed of: SQLite's driver closes it behind our
    /// back. The next call prepares another.
    private <T> T run(String text, Step<T> step, @Nullable Object... arguments) throws SQLException {
        PreparedStatement statement = prepare(text, arguments);
        try {
            return step.run(statement);
        } catch (SQLException e) {
            kept.remove(text);
            closeAfter(e, statement);
            throw e;
        }
    }

    private static void closeAfter(SQLException failure, PreparedStatement statement) {
        try {
            statement.close();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    private PreparedStatement prepare(String text, @Nullable Object... arguments) throws SQLException {
        PreparedStatement statement = kept.get(text);
        if (statement == null) {
            statement = connection.prepareStatement(text);
            keep(text, statement);
        }
        for (int i = 0; i < arguments.length; i++) {
            statement.setObject(i + 1, arguments[i]);
        }
        return statement;
    }

    /// Texts are constants of the program, so that there are few; the bound is for those that are not.
    private void keep(String text, PreparedStatement statement) throws SQLException {
        if (kept.size() == KEPT) {
            for (PreparedStatement old : kept.values()) {
                old.close();
            }
            kept.clear();
        }
        kept.put(text, statement);
    }
}
