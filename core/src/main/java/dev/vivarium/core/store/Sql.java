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

/// SQL statements on a connection that is lent to one call. Confined to that call.
///
/// The SQL must be valid for SQLite and PostgreSQL. Times are epoch milliseconds. Prepared statements are cached by
/// text, because preparing takes longer than running.
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

    /// Mapper from the current row to a value.
    @FunctionalInterface
    public interface Row<T> {
        T read(ResultSet columns) throws SQLException;
    }

    /// Runs an insert, update or delete and returns the number of affected rows.
    public int update(String text, @Nullable Object... arguments) throws SQLException {
        return run(text, PreparedStatement::executeUpdate, arguments);
    }

    /// Runs one insert, update or delete for each list of arguments, as one batch.
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

    /// Returns rows up to and including the first for which `more` is false.
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

    /// Returns the number in the first column of the first row. Returns zero if there is no row, or if it is null.
    public long number(String text, @Nullable Object... arguments) throws SQLException {
        return first(text, row -> row.getLong(1), arguments).orElse(0L);
    }

    public <K, V> Map<K, V> map(String text, Row<K> key, Row<V> value, @Nullable Object... arguments)
            throws SQLException {
        var map = new HashMap<K, V>();
        for (var entry : list(text, row -> Map.entry(key.read(row), value.read(row)), arguments)) {
            map.put(entry.getKey(), entry.getValue());
        }
        return map;
    }

    @FunctionalInterface
    private interface Step<T> {
        T run(PreparedStatement statement) throws SQLException;
    }

    /// A failed statement may be unusable, because the SQLite driver closes it implicitly. The next call prepares a
    /// new one.
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

    /// The texts are constants, so there are few. The bound covers generated texts.
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
