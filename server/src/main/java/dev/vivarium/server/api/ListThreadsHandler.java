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
import dev.vivarium.model.ThreadId;
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
            field("thread_id", THREAD_ID, line -> line.entry().thread()),
            field("user_id", USER_ID, line -> line.entry().owner()),
            field("role", STRING.with("enum", List.of("owner", "member")), Line::role),
            field("created_at", TIME, line -> line.entry().createdAt()),
            optional("sandbox", ThreadHandler.SANDBOX, line -> line.sandbox().map(ThreadHandler.View::of)));
    private static final ObjectType<Page> THREADS = object(
            "Threads",
            field("threads", JsonType.list(THREAD), Page::lines),
            optional("next_after", THREAD_ID, Page::next));

    private record Line(Threads.Entry entry, String role, Optional<SandboxInfo> sandbox) {}

    private record Page(List<Line> lines, Optional<ThreadId> next) {}

    public static final RouteDescription LIST = RouteDescription.get(
                    "/threads",
                    KEY,
                    "listThreads",
                    "List the threads of the caller and the threads that the caller is a member of")
            .query("user_id", STRING, "For admins: the threads of one user.")
            .query("after", STRING, "The last entry of the previous page.")
            .query("limit", PageQuery.LIMIT, "Maximum number of entries.")
            .answers(200, "Ordered by name.", THREADS);

    private static final int MAX_PAGE = 1000;

    private final Threads threads;
    private final Sandboxes sandboxes;

    public ListThreadsHandler(Threads threads, Sandboxes sandboxes) {
        this.threads = threads;
        this.sandboxes = sandboxes;
    }

    public void handle(Exchange exchange) throws IOException {
        int limit = PageQuery.limit(exchange, MAX_PAGE);
        var found = threads.list(user(exchange), exchange.optionalQuery("after").orElse(""), limit);
        var alive = new HashMap<ThreadId, SandboxInfo>();
        sandboxes.list().forEach(info -> alive.put(info.thread(), info));
        var caller = exchange.principal();
        var lines = found.stream()
                .map(entry -> new Line(
                        entry,
                        caller.mayActFor(entry.owner()) ? "owner" : "member",
                        Optional.ofNullable(alive.get(entry.thread()))))
                .toList();
        boolean isFull = found.size() == limit;
        exchange.answer(
                200,
                THREADS,
                new Page(lines, isFull ? Optional.of(found.getLast().thread()) : Optional.empty()));
    }

    /// A user sees only their own threads, regardless of `user_id`.
    private static Optional<UserId> user(Exchange exchange) {
        return exchange.principal() instanceof Principal.Admin
                ? exchange.optionalQuery("user_id").map(UserId::new)
                : exchange.principal().user();
    }
}
