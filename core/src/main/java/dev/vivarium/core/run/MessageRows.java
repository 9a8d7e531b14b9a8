package dev.vivarium.core.run;

import dev.vivarium.core.store.Sql;
import dev.vivarium.model.Message;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TextEnum;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;

/// Rows of messages. Stateless; each method runs in the transaction of the caller.
final class MessageRows {
    private static final String WAITING = " from sandbox_messages where sandbox_id = ? and taken_at is null";

    private MessageRows() {}

    /// Does nothing if the id exists.
    static void insert(Sql sql, SandboxId sandbox, Message message) throws SQLException {
        long position = sql.number("select max(position) from sandbox_messages where sandbox_id = ?", sandbox.value());
        sql.update(
                "insert into sandbox_messages (message_id, sandbox_id, position, content, message_type, inject_mode, source, created_at)"
                        + " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (message_id) do nothing",
                message.id(),
                sandbox.value(),
                position + 1,
                message.content(),
                message.kind().text(),
                message.mode().text(),
                message.source(),
                message.at().toEpochMilli());
    }

    static int waiting(Sql sql, SandboxId sandbox) throws SQLException {
        return (int) sql.number("select count(*)" + WAITING, sandbox.value());
    }

    /// Returns the waiting messages, interrupts first, then in the order of arrival.
    static List<Message> list(Sql sql, SandboxId sandbox, int limit) throws SQLException {
        return sql.list(
                "select message_id, content, message_type, inject_mode, source, created_at" + WAITING
                        + " order by case message_type when 'interrupt' then 0 else 1 end, position limit ?",
                MessageRows::read,
                sandbox.value(),
                limit);
    }

    static void taken(Sql sql, List<Message> messages, Instant at) throws SQLException {
        sql.updateAll(
                "update sandbox_messages set taken_at = ? where message_id = ?",
                messages.stream()
                        .map(message -> List.<Object>of(at.toEpochMilli(), message.id()))
                        .toList());
    }

    static void putBack(Sql sql, List<Message> messages) throws SQLException {
        sql.updateAll(
                "update sandbox_messages set taken_at = null where message_id = ?",
                messages.stream().map(message -> List.<Object>of(message.id())).toList());
    }

    static void delivered(Sql sql, List<Message> messages, Instant at) throws SQLException {
        sql.updateAll(
                "update sandbox_messages set delivered_at = ? where message_id = ?",
                messages.stream()
                        .map(message -> List.<Object>of(at.toEpochMilli(), message.id()))
                        .toList());
    }

    /// Puts back messages that were taken and not marked as delivered. Returns their number.
    static int putBackUndelivered(Sql sql) throws SQLException {
        return sql.update(
                "update sandbox_messages set taken_at = null where taken_at is not null and delivered_at is null");
    }

    static int prune(Sql sql, Instant before) throws SQLException {
        return sql.update(
                "delete from sandbox_messages where delivered_at < ?"
                        + " or created_at < ? and sandbox_id not in (select id from sandboxes)",
                before.toEpochMilli(),
                before.toEpochMilli());
    }

    private static Message read(ResultSet row) throws SQLException {
        return new Message(
                row.getString(1),
                row.getString(2),
                TextEnum.find(Message.Kind.class, row.getString(3)).orElse(Message.Kind.USER_MESSAGE),
                TextEnum.find(Message.Mode.class, row.getString(4)).orElse(Message.Mode.IMMEDIATE),
                row.getString(5),
                Instant.ofEpochMilli(row.getLong(6)));
    }
}
