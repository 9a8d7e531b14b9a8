package dev.vivarium.sdk;

import dev.vivarium.json.JsonFields;
import dev.vivarium.model.UserId;
import dev.vivarium.sdk.http.Transport;
import java.time.Instant;
import java.util.List;

/// Invitations of other users to threads. Thread-safe.
public final class Sharing {
    private final Transport transport;

    Sharing(Transport transport) {
        this.transport = transport;
    }

    /// A user who was invited to a thread, with the scopes of the invitation. Immutable.
    public record Member(UserId user, List<String> scopes, Instant invitedAt) {
        public Member {
            scopes = List.copyOf(scopes);
        }

        private static Member read(JsonFields fields) {
            return new Member(
                    new UserId(fields.string("user_id")),
                    fields.findStrings("scopes").orElse(List.of()),
                    fields.time("invited_at"));
        }
    }

    /// The owner and the members of a thread. Immutable.
    public record Members(UserId owner, List<Member> members) {
        public Members {
            members = List.copyOf(members);
        }

        private static Members read(JsonFields fields) {
            return new Members(
                    new UserId(fields.string("owner")),
                    fields.objects("members").stream().map(Member::read).toList());
        }
    }

    public Members members(String thread) {
        return transport.get(path(thread), Members::read);
    }

    /// Allows the user to use the thread's sandbox within the scopes, for example `shell:ro`.
    public Member invite(String thread, String user, List<String> scopes) {
        return transport.post(
                path(thread),
                out -> {
                    out.writeStringProperty("user_id", user);
                    out.writeArrayPropertyStart("scopes");
                    scopes.forEach(out::writeString);
                    out.writeEndArray();
                },
                Member::read);
    }

    /// Removes the user and revokes the user's tokens for the thread.
    public void remove(String thread, String user) {
        transport.delete(path(thread) + "/" + Transport.segment(user));
    }

    private static String path(String thread) {
        return "/threads/" + Transport.segment(thread) + "/members";
    }
}
