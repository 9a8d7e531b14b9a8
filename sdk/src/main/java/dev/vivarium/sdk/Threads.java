package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Threads that the caller may use, and their sandboxes. Thread-safe.
public final class Threads {
    private final Transport transport;

    Threads(Transport transport) {
        this.transport = transport;
    }

    /// A thread as the server lists it. Immutable.
    ///
    /// @param role `owner` or `member`
    public record ThreadInfo(
            ThreadId id, UserId owner, String role, Instant createdAt, Optional<CurrentSandbox> sandbox) {
        private static ThreadInfo read(JsonFields fields) {
            return new ThreadInfo(
                    new ThreadId(fields.string("thread_id")),
                    new UserId(fields.string("user_id")),
                    fields.string("role"),
                    fields.time("created_at"),
                    fields.optionalObject("sandbox").map(CurrentSandbox::read));
        }
    }

    /// The sandbox that a thread has now. Immutable.
    public record CurrentSandbox(SandboxId id, String state, Instant lastActivity) {
        private static CurrentSandbox read(JsonFields fields) {
            return new CurrentSandbox(
                    new SandboxId(fields.string("sandbox_id")), fields.string("state"), fields.time("last_activity"));
        }
    }

    /// One entry of the audit log of a thread. Immutable.
    ///
    /// @param outcome HTTP status of the call
    /// @param user    the subject of the token or key
    /// @param token   the id of the token
    /// @param count   number of equal calls that this entry stands for
    public record AuditEntry(
            long seq,
            Instant at,
            String kind,
            int outcome,
            String route,
            Optional<String> user,
            Optional<String> token,
            Optional<String> sandbox,
            Optional<String> scope,
            Optional<String> detail,
            long count) {
        private static AuditEntry read(JsonFields fields) {
            return new AuditEntry(
                    fields.integer("seq"),
                    fields.time("at"),
                    fields.string("kind"),
                    (int) fields.integer("outcome"),
                    fields.string("route"),
                    fields.optionalString("sub"),
                    fields.optionalString("jti"),
                    fields.optionalString("aud"),
                    fields.optionalString("scope"),
                    fields.optionalString("detail"),
                    fields.optionalInteger("count").orElse(1L));
        }
    }

    /// Entries of an audit log; `nextAfter` is present if the log has more. Immutable.
    public record AuditPage(List<AuditEntry> entries, Optional<Long> nextAfter) {
        public AuditPage {
            entries = List.copyOf(entries);
        }

        private static AuditPage read(JsonFields fields) {
            return new AuditPage(
                    fields.objects("entries").stream().map(AuditEntry::read).toList(),
                    fields.optionalInteger("next_after"));
        }
    }

    /// The threads of the caller and those that the caller was invited to.
    public List<ThreadInfo> list() {
        var threads = new ArrayList<ThreadInfo>();
        Optional<String> query = Optional.of("");
        while (query.isPresent()) {
            JsonFields page = transport.get("/threads" + query.get(), fields -> {
                threads.addAll(readAll(fields));
                return fields;
            });
            query = page.optionalString("next_after")
                    .map(after -> after(after, page.optionalString("next_after_owner")));
        }
        return threads;
    }

    private static String after(String thread, Optional<String> owner) {
        return "?after=" + Transport.segment(thread)
                + owner.map(user -> "&after_owner=" + Transport.segment(user)).orElse("");
    }

    /// At most `limit` threads.
    public List<ThreadInfo> first(int limit) {
        return transport.get("/threads?limit=" + limit, Threads::readAll);
    }

    private static List<ThreadInfo> readAll(JsonFields fields) {
        return fields.objects("threads").stream().map(ThreadInfo::read).toList();
    }

    /// State of the thread's sandbox, for example `paused`; throws `NoSandboxForThread` if the thread has none.
    public String sandboxState(String thread) {
        return transport.get(path(thread) + "/sandbox", fields -> fields.string("state"));
    }

    /// Ends the thread's sandbox and deletes its files. Snapshots stay.
    public void endSandbox(String thread) {
        transport.delete(path(thread) + "/sandbox");
    }

    /// Deletes the thread with its sandbox, snapshots and invitations.
    public void archive(String thread) {
        transport.delete(path(thread));
    }

    /// Audit log of the thread after the given number, oldest first. Only for the owner.
    public AuditPage audit(String thread, long after) {
        return transport.get(path(thread) + "/audit?after=" + after, AuditPage::read);
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread);
    }
}
