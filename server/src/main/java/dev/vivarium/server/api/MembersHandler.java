package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.model.Failure.InvalidRequest.require;
import static dev.vivarium.server.http.Route.Access.KEY;

import dev.vivarium.core.access.Audit;
import dev.vivarium.core.access.AuditEntry;
import dev.vivarium.core.access.Member;
import dev.vivarium.core.access.Members;
import dev.vivarium.core.access.Scopes;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxFailure;
import dev.vivarium.model.UserId;
import dev.vivarium.server.access.ThreadAccess;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Function;

/// `/threads/{thread_id}/members`: the members of a thread and their scopes. Thread-safe.
public final class MembersHandler {
    private static final ObjectType<Invite> INVITE_REQUEST = object(
                    "Invite", Invite::new, field("user_id", USER_ID), field("scopes", TokenResponse.SCOPES))
            .closed();
    private static final ObjectType<Member> MEMBER = object(
            "Member",
            field("user_id", USER_ID, Member::user),
            field("scopes", TokenResponse.SCOPES, Member::maxScopes),
            field("invited_at", TIME, Member::invitedAt));
    private static final ObjectType<Everyone> MEMBERS = object(
            "Members",
            field("owner", USER_ID, Everyone::owner),
            field("members", JsonType.list(MEMBER), Everyone::members));
    private static final ObjectType<UserId> REMOVED_MEMBER =
            object("RemovedMember", constant("status", "removed"), field("user_id", USER_ID, Function.identity()));

    private record Invite(UserId user, Scopes maxScopes) {}

    private record Everyone(UserId owner, List<Member> members) {}

    public static final RouteDescription INVITE = RouteDescription.post("/threads/{thread_id}/members", KEY)
            .named("inviteMember", "Invite a user, or change the scopes of a member")
            .takes(INVITE_REQUEST)
            .answers(200, "The member.", MEMBER)
            .fails(403, 404);

    public static final RouteDescription LIST = RouteDescription.get("/threads/{thread_id}/members", KEY)
            .named("listMembers", "List the members of a thread")
            .answers(200, "Ordered by name.", MEMBERS)
            .fails(403, 404);

    public static final RouteDescription REMOVE = RouteDescription.delete("/threads/{thread_id}/members/{user_id}", KEY)
            .named("removeMember", "Remove a member")
            .answers(200, "The member was removed. The tokens of the member are revoked.", REMOVED_MEMBER)
            .fails(403, 404);

    private final ThreadResolver resolver;
    private final Members members;
    private final Audit audit;
    private final InstantSource clock;

    public MembersHandler(ThreadResolver resolver, Members members, Audit audit, InstantSource clock) {
        this.resolver = resolver;
        this.members = members;
        this.audit = audit;
        this.clock = clock;
    }

    public void invite(Exchange exchange) throws IOException {
        var access = resolver.requireOwner(exchange);
        var invite = exchange.json(INVITE_REQUEST);
        require(!invite.user().equals(access.key().user()), "user_id", "is the owner's own");
        var member = members.invite(access.key(), invite.user(), invite.maxScopes());
        record(exchange, access, AuditEntry.Kind.INVITED, member);
        exchange.answer(200, MEMBER, member);
    }

    /// `GET`: all members. Members see each other.
    public void list(Exchange exchange) throws IOException {
        var access = resolver.require(exchange);
        exchange.answer(200, MEMBERS, new Everyone(access.key().user(), members.list(access.key())));
    }

    /// `DELETE …/{user_id}`: removes a member and revokes the tokens of the member. A member may remove itself.
    public void remove(Exchange exchange) throws IOException {
        var user = new UserId(exchange.path("user_id"));
        boolean isLeaving = exchange.principal().user().filter(user::equals).isPresent();
        var access = isLeaving ? resolver.require(exchange) : resolver.requireOwner(exchange);
        var member = members.find(access.key(), user);
        if (member.isEmpty() || !members.remove(access.key(), user)) {
            throw new SandboxException(new SandboxFailure.NoSuchMember(user));
        }
        record(exchange, access, AuditEntry.Kind.UNINVITED, member.get());
        exchange.answer(200, REMOVED_MEMBER, user);
    }

    private void record(Exchange exchange, ThreadAccess access, AuditEntry.Kind kind, Member member) {
        String method = kind == AuditEntry.Kind.INVITED ? "POST" : "DELETE";
        exchange.markAudited();
        audit.record(AuditEntry.of(clock.instant(), kind, 200, method + " /threads/{thread_id}/members")
                .by(exchange.principal())
                .onThread(access.key())
                .scopes(member.maxScopes())
                .detail(member.user().value()));
    }
}
