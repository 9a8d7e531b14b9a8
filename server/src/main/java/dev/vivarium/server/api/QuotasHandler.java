package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.INT;
import static dev.vivarium.json.JsonType.LONG;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.run.Runs;
import dev.vivarium.core.sandbox.UserQuotas;
import dev.vivarium.core.sandbox.UserQuotas.Usage;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.UserId;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/// `GET /api/v1/quotas`: limits and usage of users. Thread-safe.
public final class QuotasHandler {
    private static final ObjectType<UserQuotas> LIMITS = object(
            "",
            field("sandboxes", INT, UserQuotas::maxSandboxes),
            optional(
                    "disk_bytes",
                    LONG,
                    "Absent without a limit.",
                    all -> limit(all.quota().diskBytes())),
            optional(
                    "snapshots",
                    LONG,
                    "Absent without a limit.",
                    all -> limit(all.quota().snapshots())),
            optional(
                    "runs",
                    LONG,
                    "Absent without a limit.",
                    all -> limit(all.quota().runs())));
    private static final ObjectType<UserUsage> USER = object(
            "",
            field("user_id", USER_ID, UserUsage::user),
            field("sandboxes", INT, user -> user.usage().sandboxes()),
            field(
                    "disk_bytes",
                    LONG,
                    "Disk sizes of the sandboxes and sizes of the snapshots.",
                    user -> user.usage().diskBytes()),
            field("snapshots", INT, user -> user.usage().snapshots()),
            field("runs", INT, "Active runs.", UserUsage::runs));
    private static final ObjectType<Report> REPORT = object(
            "Quotas",
            field("limits", LIMITS, "Limits of each user.", Report::quotas),
            field("users", JsonType.list(USER), "Users with a sandbox, a snapshot or a run.", Report::users));

    private record UserUsage(UserId user, Usage usage, int runs) {}

    private record Report(UserQuotas quotas, List<UserUsage> users) {}

    public static final RouteDescription QUOTAS = RouteDescription.get("/api/v1/quotas", KEY)
            .named("quotas", "Report the limits and the usage of users")
            .text("An admin receives the usage of all users, a user their own.")
            .answers(200, "The limits of each user and the usage.", REPORT);

    private final UserQuotas quotas;
    private final Runs runs;

    public QuotasHandler(UserQuotas quotas, Runs runs) {
        this.quotas = quotas;
        this.runs = runs;
    }

    public void handle(Exchange exchange) throws IOException {
        Principal who = exchange.principal();
        Map<UserId, Usage> usage = quotas.usage();
        Map<UserId, Integer> active = runs.activeByUser();
        var names = new TreeSet<UserId>((a, b) -> a.value().compareTo(b.value()));
        names.addAll(usage.keySet());
        names.addAll(active.keySet());
        var users = new ArrayList<UserUsage>();
        for (UserId user : names) {
            if (who instanceof Principal.Admin || who.name().equals(user)) {
                users.add(new UserUsage(
                        user, usage.getOrDefault(user, new Usage(0, 0, 0)), active.getOrDefault(user, 0)));
            }
        }
        exchange.answer(200, REPORT, new Report(quotas, users));
    }

    private static Optional<Long> limit(long limit) {
        return limit == 0 ? Optional.empty() : Optional.of(limit);
    }
}
