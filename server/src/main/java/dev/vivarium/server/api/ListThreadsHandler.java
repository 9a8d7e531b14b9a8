package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.THREAD_ID;
import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.access.Threads;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxInfo;
import dev.vivarium.model.ThreadKey;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;

/// `GET /threads`: the threads that the caller owns or is a member of. An admin sees all threads, or those of one user.
/// Thread-safe.
public final class ListThreadsHandler {
    private static final ObjectType<Line> THREAD = object(
            "",
            field("thread_id", THREAD_ID, line -> line.entry().key().thread()),
            field("user_id", USER_ID, line -> line.entry().key().user()),
            field("role", STRING.with("enum", List.of("owner", "member")), Line::role),
            field("created_at", TIME, line -> line.entry().createdAt()),
            optional("sandbox", ThreadHandler.SANDBOX, line -> line.sandbox().map(ThreadHandler.View::of)));
    private static final ObjectType<Page> THREADS = object(
            "Threads",
            field("threads", JsonType.list(THREAD), Page::lines),
            optional(
                    "next_after",
                    THREAD_ID,
                    "`after` of the next page.",
                    page -> page.next().map(ThreadKey::thread)),
            optional(
                    "next_after_owner",
                    USER_ID,
                    "`after_owner` of the next page.",
                    page -> page.next().map(ThreadKey::user)));

    private record Line(Threads.Entry entry, String role, Optional<SandboxInfo> sandbox) {}

    private record Page(List<Line> lines, Optional<ThreadKey> next) {}

    public static final RouteDescription LIST = RouteDescription.get("/threads", KEY)
            .named("listThreads", "List the threads of the caller and the threads that the caller is a member of")
            .query("user_id", STRING, "For admins: the threads of one user.")
            .query("after", STRING, "`next_after` of the previous page.")
            .query("after_owner", STRING, "`next_after_owner` of the previous page.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "Ordered by name and owner.", THREADS);

    private static final int MAX_PAGE = 1000;

    private final Threads threads;
    private final Sandboxes sandboxes;

    public ListThreadsHandler(Threads threads, Sandboxes sandboxes) {
        this.threads = threads;
        this.sandboxes = sandboxes;
    }

    public void handle(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var after =
                new Threads.Position(exchange.optionalQuery("after").orElse(""), exchange.optionalQuery("after_owner"));
        var found = threads.list(user(exchange), after, limit);
        var alive = new HashMap<ThreadKey, SandboxInfo>();
        sandboxes.list().forEach(info -> alive.put(info.key(), info));
        var caller = exchange.principal();
        var lines = found.stream()
                .map(entry -> new Line(
                        entry,
                        caller.mayActFor(entry.key().user()) ? "owner" : "member",
                        Optional.ofNullable(alive.get(entry.key()))))
                .toList();
        boolean isFull = found.size() == limit;
        exchange.answer(
                200,
                THREADS,
                new Page(lines, isFull ? Optional.of(found.getLast().key()) : Optional.empty()));
    }

    /// A user sees only their own threads, regardless of `user_id`.
    private static Optional<UserId> user(Exchange exchange) {
        return exchange.principal() instanceof Principal.Admin
                ? exchange.optionalQuery("user_id").map(UserId::new)
                : exchange.principal().user();
    }
}
