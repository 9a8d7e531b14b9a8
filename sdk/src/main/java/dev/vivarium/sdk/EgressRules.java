package dev.vivarium.sdk;

import dev.vivarium.json.EgressJson;
import dev.vivarium.json.JsonFields;
import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.sdk.http.Transport;
import java.util.List;

/// Allow-lists of the hosts that sandboxes may reach. Thread-safe.
public final class EgressRules {
    private final Transport transport;

    EgressRules(Transport transport) {
        this.transport = transport;
    }

    /// The allow-list of one sandbox. Immutable.
    public record AllowList(ThreadId thread, SandboxId sandbox, Egress egress) {
        private static AllowList read(JsonFields fields) {
            return new AllowList(
                    new ThreadId(fields.string("thread_id")),
                    new SandboxId(fields.string("sandbox_id")),
                    Egress.of("allow", fields.findStrings("allow").orElse(List.of())));
        }
    }

    public AllowList get(String thread) {
        return transport.get(path(thread), AllowList::read);
    }

    /// Replaces the allow-list and closes open connections that it no longer permits.
    public AllowList set(String thread, Egress egress) {
        return transport.put(path(thread), out -> EgressJson.EGRESS.writeFields(out, egress), AllowList::read);
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/egress";
    }
}
