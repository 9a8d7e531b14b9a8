package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.SANDBOX_ID;
import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.ADMIN;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.AuditQuery;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// `GET /threads/{thread_id}/audit` for the owner and `GET /admin/audit` for admins: the audit log. Thread-safe.
public final class AuditHandler {
    private static final JsonType<AuditEntry.Kind> KIND = JsonType.constants(
            AuditEntry.Kind.class,
            AuditEntry.Kind::text,
            Arrays.stream(AuditEntry.Kind.values())
                    .map(AuditEntry.Kind::text)
                    .collect(Collectors.joining(", ", "must be one of ", "")));
    private static final JsonType<AuditQuery.Outcome> OUTCOME = JsonType.constants(
            AuditQuery.Outcome.class, outcome -> outcome.name().toLowerCase(Locale.ROOT), "must be done or refused");
    private static final ObjectType<Audit.Numbered> ENTRY = object(
            "",
            field("seq", LONG, Audit.Numbered::seq),
            field("at", TIME, numbered -> numbered.entry().at()),
            field("kind", KIND, numbered -> numbered.entry().kind()),
            field("outcome", INT, numbered -> numbered.entry().outcome()),
            field("route", STRING, numbered -> numbered.entry().route()),
            optional("jti", STRING, numbered -> numbered.entry().jti()),
            optional("sub", USER_ID, numbered -> numbered.entry().user()),
            optional("aud", SANDBOX_ID, numbered -> numbered.entry().sandbox()),
            optional("thread_id", THREAD_ID, numbered -> numbered.entry().thread()),
            optional(
                    "owner",
                    USER_ID,
                    "The owner of the thread.",
                    numbered -> numbered.entry().owner()),
            optional("scope", STRING, numbered -> numbered.entry().scopes().map(Scopes::text)),
            field("count", LONG, "Number of equal calls that this entry stands for.", Audit.Numbered::count),
            optional(
                    "last_at",
                    TIME,
                    "Time of the last of them.",
                    numbered -> Optional.of(numbered.last()).filter(_ -> numbered.count() > 1)),
            optional(
                    "detail",
                    STRING,
                    numbered -> Optional.of(numbered.entry().detail()).filter(detail -> !detail.isEmpty())));
    private static final ObjectType<Page> AUDIT = object(
            "Audit",
            field("entries", JsonType.list(ENTRY), Page::entries),
            optional(
                    "next_after",
                    LONG,
                    page -> page.entries().isEmpty()
                            ? Optional.empty()
                            : Optional.of(page.entries().getLast().seq())),
            field(
                    "dropped",
                    LONG,
                    "Number of entries that were lost since the server started, because the store refused them.",
                    Page::dropped));

    private record Page(List<Audit.Numbered> entries, long dropped) {}

    public static final RouteDescription OF_THREAD = filtered(RouteDescription.get("/threads/{thread_id}/audit", KEY)
                    .named("auditThread", "Read the audit log of a thread"))
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "Oldest first. Without `after`, the newest entries.", AUDIT)
            .fails(403, 404);

    public static final RouteDescription OF_ALL = filtered(
                    RouteDescription.get("/admin/audit", ADMIN).named("auditAll", "Read the audit log of the server"))
            .query("thread_id", STRING, "Only operations on threads of this name and their sandboxes.")
            .query(RouteDescription.OWNER, STRING, "Only operations on threads and sandboxes of this user.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "Oldest first. Without `after`, the newest entries.", AUDIT);

    private static final int MAX_PAGE = 1000;

    /// Upper bound of the memory of an entry, in bytes.
    private static final int ENTRY_BYTES = 1024;

    private final ThreadResolver resolver;
    private final Audit audit;

    public AuditHandler(ThreadResolver resolver, Audit audit) {
        this.resolver = resolver;
        this.audit = audit;
    }

    public void ofThread(Exchange exchange) throws IOException {
        var thread = resolver.requireOwner(exchange).key();
        send(exchange, query(exchange).ofThread(thread));
    }

    public void ofAll(Exchange exchange) throws IOException {
        send(exchange, query(exchange));
    }

    /// Adds the parameters that both routes have.
    private static RouteDescription filtered(RouteDescription route) {
        return route.query("after", STRING, "The last entry of the previous page.")
                .query("before", INT, "Only entries with a smaller number, for the previous page.")
                .query("user_id", STRING, "Only operations of this user.")
                .query("kind", KIND, "Only entries of this kind.")
                .query("sandbox_id", STRING, "Only operations on this sandbox.")
                .query("outcome", OUTCOME, """
                        `done`: only entries with a status below 400. `refused`: only the other entries.""");
    }

    private static AuditQuery query(Exchange exchange) {
        return new AuditQuery(
                exchange.optionalQuery("thread_id").map(ThreadId::new),
                exchange.optionalQuery(RouteDescription.OWNER).map(UserId::new),
                exchange.optionalQuery("sandbox_id").map(SandboxId::new),
                exchange.optionalQuery("user_id").map(UserId::new),
                exchange.optionalQuery("kind", KIND),
                exchange.optionalQuery("outcome", OUTCOME),
                PageQuery.number(exchange, "after"),
                PageQuery.number(exchange, "before"));
    }

    private void send(Exchange exchange, AuditQuery query) throws IOException {
        var entries = audit.list(query, PageQuery.limit(exchange, MAX_PAGE));
        exchange.reserve((long) ENTRY_BYTES * entries.size());
        exchange.answer(200, AUDIT, new Page(entries, audit.dropped()));
    }
}
