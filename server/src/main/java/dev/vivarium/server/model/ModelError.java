package dev.vivarium.server.model;

/// Failure of a model call, sent to the agent in the error format of its SDK. Immutable.
final class ModelError extends Exception {
    private static final long serialVersionUID = 1;

    private final Kind kind;

    ModelError(Kind kind, String sentence) {
        super(sentence, null, false, false);
        this.kind = kind;
    }

    Kind kind() {
        return kind;
    }

    String sentence() {
        return String.valueOf(getMessage());
    }

    /// Error kinds of the SDKs. SDKs retry after 408, 429 and 5xx, and after no other status.
    enum Kind {
        MALFORMED(400, "invalid_request_error", "invalid_request_error"),
        UNKNOWN_CALLER(401, "authentication_error", "authentication_error"),
        SPENT(402, "billing_error", "insufficient_quota"),
        REFUSED(403, "permission_error", "permission_error"),
        NOT_FOUND(404, "not_found_error", "not_found_error"),
        SLOW(408, "invalid_request_error", "invalid_request_error"),
        TOO_LARGE(413, "request_too_large", "invalid_request_error"),
        TOO_MANY(429, "rate_limit_error", "rate_limit_error"),
        UNREACHABLE(502, "api_error", "server_error"),
        LATE(504, "timeout_error", "server_error"),
        FULL(529, "overloaded_error", "server_error");

        final int status;
        final String anthropic;
        final String openai;

        Kind(int status, String anthropic, String openai) {
            this.status = status;
            this.anthropic = anthropic;
            this.openai = openai;
        }
    }
}
