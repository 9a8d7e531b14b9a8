package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/// Database of a PostgreSQL server. Immutable.
///
/// Only one server writes at a time: its connection holds an advisory lock. A server that loses the connection also
/// loses the right to write.
record Postgres(PostgresAddress address, Duration timeout) implements Dialect {
    /// Arbitrary numbers that are not used otherwise in this database.
    private static final long SCHEMA = 0x76_69_76_61;

    private static final long WRITER = SCHEMA + 1;

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public Connection connect() throws SQLException {
        var source = new PGSimpleDataSource();
        source.setUrl(address.jdbc());
        source.setApplicationName("vivarium");
        source.setReWriteBatchedInserts(true);
        source.setConnectTimeout((int) Math.max(1, timeout.toSeconds()));
        source.setSocketTimeout((int) Math.max(1, 2 * timeout.toSeconds()));
        source.setTcpKeepAlive(true);
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    /// Waits for the lock, because the previous server may have been killed a moment ago.
    @Override
    public Connection connectToWrite() throws SQLException {
        Connection connection = connect();
        try (var statement = connection.createStatement()) {
            statement.execute("set lock_timeout = " + timeout.toMillis());
            statement.execute("select pg_advisory_lock(" + WRITER + ")");
            statement.execute("set lock_timeout = 0");
            connection.commit();
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw LOCK_NOT_AVAILABLE.equals(e.getSQLState()) ? new DatabaseInUse(address, e) : e;
        }
    }

    @Override
    public void lockSchema(Sql sql) throws SQLException {
        sql.first("select pg_advisory_xact_lock(?)", row -> true, SCHEMA);
    }
}
