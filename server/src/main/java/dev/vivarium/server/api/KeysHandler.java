package dev.vivarium.server.api;

import static dev.vivarium.json.IdTypes.USER_ID;
import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.TIME;
import static dev.vivarium.json.ObjectType.constant;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;
import static dev.vivarium.json.ObjectType.optional;
import static dev.vivarium.server.http.Route.Access.ADMIN;

import dev.vivarium.core.access.IssuedKey;
import dev.vivarium.core.access.KeyInfo;
import dev.vivarium.core.access.KeyRequest;
import dev.vivarium.core.access.Keys;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.ObjectType;
import dev.vivarium.model.AccessFailure;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.http.Exchange;
import dev.vivarium.server.http.RouteDescription;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/// `/admin/keys`: issues, lists and revokes the keys of users. For admins. Thread-safe.
public final class KeysHandler {
    private static final ObjectType<KeyRequest> ISSUE_KEY = object(
                    "IssueKey",
                    KeyRequest::new,
                    field("user_id", USER_ID.length(1, 200), KeyRequest::user),
                    optional(
                            "label",
                            STRING.with("maxLength", KeyRequest.MAX_LABEL),
                            "The purpose of the key, for people. Without control characters.",
                            KeyRequest::label),
                    optional(
                            "expires_at",
                            TIME,
                            "When the key becomes invalid, in the future. Without it, the key does not expire.",
                            KeyRequest::expiresAt))
            .closed();
    private static final ObjectType<IssuedKey> ISSUED_KEY = object(
            "IssuedKey",
            field("key_id", STRING, IssuedKey::keyId),
            field("user_id", USER_ID, IssuedKey::user),
            field(
                    "key",
                    STRING.with("pattern", "^viv_[0-9a-f]{40}$"),
                    "The server does not show it again.",
                    IssuedKey::key));
    private static final ObjectType<KeyInfo> KEY = object(
            "",
            field("key_id", STRING, KeyInfo::keyId),
            field("user_id", USER_ID, KeyInfo::user),
            field("created_at", TIME, KeyInfo::createdAt),
            optional("label", STRING, KeyInfo::label),
            optional(
                    "last_used_at",
                    TIME,
                    "The last request with the key, or in a browser session that it started. Absent if there was none.",
                    KeyInfo::lastUsedAt),
            optional("expires_at", TIME, KeyInfo::expiresAt));
    private static final ObjectType<List<KeyInfo>> KEYS =
            object("Keys", field("keys", JsonType.list(KEY), Function.identity()));
    private static final ObjectType<String> REVOKED_KEY =
            object("RevokedKey", constant("status", "revoked"), field("key_id", STRING, Function.identity()));

    public static final RouteDescription ISSUE = RouteDescription.post("/admin/keys", ADMIN)
            .named("issueKey", "Issue a key for a user")
            .takes(ISSUE_KEY)
            .answers(201, "The key. The server does not show it again.", ISSUED_KEY);

    public static final RouteDescription LIST = RouteDescription.get("/admin/keys", ADMIN)
            .named("listKeys", "List the keys of users")
            .answers(200, "All keys, without their secrets.", KEYS);

    public static final RouteDescription REVOKE = RouteDescription.delete("/admin/keys/{key_id}", ADMIN)
            .named("revokeKey", "Revoke the key of a user")
            .answers(200, "The key is no longer valid.", REVOKED_KEY)
            .fails(404);

    private final Keys keys;

    public KeysHandler(Keys keys) {
        this.keys = keys;
    }

    /// Only this response contains the key. A malformed request has the status 400, and a label or expiry that the
    /// server does not accept has 422.
    public void issue(Exchange exchange) throws IOException {
        KeyRequest request = exchange.json(ISSUE_KEY);
        try {
            exchange.answer(201, ISSUED_KEY, keys.issue(request));
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.InvalidRequest)) {
                throw e;
            }
            exchange.refuse(422, e.failure());
        }
    }

    public void list(Exchange exchange) throws IOException {
        exchange.answer(200, KEYS, keys.list());
    }

    public void revoke(Exchange exchange) throws IOException {
        String keyId = exchange.path("key_id");
        if (!keys.revoke(keyId)) {
            throw new SandboxException(new AccessFailure.NoSuchKey(keyId));
        }
        exchange.answer(200, REVOKED_KEY, keyId);
    }
}
