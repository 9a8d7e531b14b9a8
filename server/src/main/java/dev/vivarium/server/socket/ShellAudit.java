package dev.vivarium.server.socket;

import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.telemetry.Telemetry;

/// Audit and metrics of shells. They contain the number of typed characters, never the characters. Thread-safe.
public record ShellAudit(SocketAudit entries, Telemetry telemetry) {
    /// Route in the audit entries of shells.
    public static final String ROUTE = "GET /sandboxes/{sandbox_id}/shell";

    void entered(Caller caller, Viewer viewer) {
        entries.did(caller, Kind.USED, SocketMessages.role(viewer.who().role()) + " in " + id(viewer));
    }

    void typed(Caller caller, Viewer viewer, int characters) {
        caller.sandbox().ifPresent(sandbox -> telemetry.typed(viewer, sandbox, characters));
        entries.did(caller, Kind.TYPED, characters + " characters in " + id(viewer));
    }

    void signalled(Caller caller, Viewer viewer, Signal signal) {
        entries.did(caller, Kind.TYPED, "signal " + signal + " to " + id(viewer));
    }

    private static String id(Viewer viewer) {
        return viewer.shell().id().value();
    }
}
