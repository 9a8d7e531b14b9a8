package dev.vivarium.server.api;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Member;
import dev.vivarium.core.access.Members;
import dev.vivarium.json.Json;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import java.io.IOException;
import java.time.InstantSource;
import tools.jackson.core.JsonGenerator;

/// `/threads/{thread_id}/members`: whom the owner invited, and to what at most. Thread-safe.
public final class MembersHandler {
    private final ThreadCallers callers;
    private final Members members;
    private final Audit audit;
    private final InstantSource clock;

    public MembersHandler(ThreadCallers callers, Members members, Audit audit, InstantSource clock) {
        this.callers = callers;
        this.members = members;
        this.audit = audit;
        this.clock = clock;
    }

    /// `POST`: invites a user, or changes what they may do.
    public void invite(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.requireOwner(exchange);
        var fields = exchange.json();
        var user = new UserId(fields.string("user_id"));
        var most = TokenAnswer.scopes(fields)
                .orElseThrow(() -> new SandboxException(new Failure.InvalidRequest("scopes", "is required")));
        fields.refuseOthers();
        if (user.equals(visit.owner())) {
            throw new SandboxException(new Failure.InvalidRequest("user_id", "is the owner's own"));
        }
        var member = members.invite(visit.thread(), user, most);
        record(exchange, visit, AuditEntry.Kind.INVITED, member);
        exchange.answer(200, out -> write(out, member));
    }

    /// `GET`: everybody who was invited. Members see each other.
    public void list(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var visit = callers.require(exchange);
        exchange.answer(200, out -> {
            out.writeStringProperty("owner", visit.owner().value());
            out.writeArrayPropertyStart("members");
            for (Member member : members.list(visit.thread())) {
                out.writeStartObject();
                write(out, member);
                out.writeEndObject();
            }
            out.writeEndArray();
        });
    }

    /// `DELETE …/{user_id}`: takes the invitation back, with every token that came of it. A member may leave.
    public void remove(Exchange exchange) throws IOException {
        exchange.allowQuery();
        var user = new UserId(exchange.path("user_id"));
        boolean isLeaving = exchange.principal().user().filter(user::equals).isPresent();
        var visit = isLeaving ? callers.require(exchange) : callers.requireOwner(exchange);
        var member = members.find(visit.thread(), user);
        if (member.isEmpty() || !members.remove(visit.thread(), user)) {
            throw new SandboxException(new SandboxFailure.NoSuchMember(user));
        }
        record(exchange, visit, AuditEntry.Kind.UNINVITED, member.get());
        exchange.answer(200, out -> {
            out.writeStringProperty("status", "removed");
            out.writeStringProperty("user_id", user.value());
        });
    }

    private void record(Exchange exchange, ThreadAccess visit, AuditEntry.Kind kind, Member member) {
        String method = kind == AuditEntry.Kind.INVITED ? "POST" : "DELETE";
        audit.record(AuditEntry.of(clock.instant(), kind, 200, method + " /threads/{thread_id}/members")
                .by(exchange.principal())
                .onThread(visit.thread())
                .scopes(member.most())
                .detail(member.user().value()));
    }

    private static void write(JsonGenerator out, Member member) {
        out.writeStringProperty("user_id", member.user().value());
        TokenAnswer.writeScopes(out, member.most());
        Json.time(out, "invited_at", member.invitedAt());
    }
}
