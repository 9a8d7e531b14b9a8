package dev.vivarium.core.store;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.postgresql.ds.PGSimpleDataSource;

/// A PostgreSQL server that several of ours may share. Immutable.
///
/// @param url as in `jdbc:postgresql://host:5432/vivarium?user=…&password=…`
record Postgres(String url, Duration patience) implements Dialect {
    /// Any number that nobody else uses in this database.
    private static final long SCHEMA = 0x76_69_76_61;

    @Override
    public String name() {
        return "postgresql";
    }

    @Override
    public Connection connect() throws SQLException {
        var source = new PGSimpleDataSource();
        source.setUrl(url);
        source.setApplicationName("vivarium");
        source.setReWriteBatchedInserts(true);
        source.setConnectTimeout((int) Math.max(1, patience.toSeconds()));
        source.setSocketTimeout((int) Math.max(1, 2 * patience.toSeconds()));
        source.setTcpKeepAlive(true);
        Connection connection = source.getConnection();
        connection.setAutoCommit(false);
        return connection;
    }

    @Override
    public void lockSchema(Sql sql) throws SQLException {
        sql.first("select pg_advisory_xact_lock(?)", row -> true, SCHEMA);
    }

    /// The password may be in the address.
    @Override
    public String toString() {
        return "Postgres[" + url.replaceAll("\\?.*", "") + "]";
    }
}
