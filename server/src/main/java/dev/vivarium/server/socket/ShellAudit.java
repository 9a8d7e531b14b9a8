package dev.vivarium.server.socket;

import dev.vivarium.core.access.AuditEntry.Kind;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.shell.Viewer;
import dev.vivarium.server.http.Caller;
import dev.vivarium.server.telemetry.Telemetry;

/// Tells who came into which shell and who typed there; never what was typed. Thread-safe.
public record ShellAudit(SocketAudit controlPort, Telemetry telemetry) {
    /// By which the audit knows the sockets of shells.
    public static final String ROUTE = "GET /sandboxes/{sandbox_id}/shell";

    /// Somebody is in a shell now.
    void entered(Caller caller, Viewer viewer) {
        controlPort.did(caller, Kind.USED, SocketMessages.role(viewer.who().role()) + " in " + id(viewer));
    }

    void typed(Caller caller, Viewer viewer, int characters) {
        caller.sandbox().ifPresent(sandbox -> telemetry.typed(viewer, sandbox, characters));
        controlPort.did(caller, Kind.TYPED, characters + " characters in " + id(viewer));
    }

    void signalled(Caller caller, Viewer viewer, Signal signal) {
        controlPort.did(caller, Kind.TYPED, "signal " + signal + " to " + id(viewer));
    }

    private static String id(Viewer viewer) {
        return viewer.shell().id().value();
    }
}
