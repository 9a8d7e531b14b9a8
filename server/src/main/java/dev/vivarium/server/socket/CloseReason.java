package dev.vivarium.server.socket;

import dev.vivarium.json.ProblemJson;
import dev.vivarium.model.Failure;

/// Code and text of the close of a socket. The code of a failure is 4000 plus its HTTP status. Immutable.
record CloseReason(int code, String reason) {
    private static final int NORMAL = 1000;
    private static final int GOING_AWAY = 1001;
    private static final int POLICY = 1008;
    private static final int TRY_AGAIN_LATER = 1013;
    private static final int OURS = 4000;

    /// Maximum length of the text. A close frame has space for 123 bytes.
    private static final int REASON = 100;

    CloseReason {
        reason = reason.length() <= REASON ? reason : reason.substring(0, REASON) + "…";
    }

    static CloseReason ended() {
        return new CloseReason(NORMAL, "the shell has ended");
    }

    static CloseReason stopping() {
        return new CloseReason(GOING_AWAY, "the server is stopping");
    }

    static CloseReason tooMany() {
        return new CloseReason(TRY_AGAIN_LATER, "the server has too many sockets; try again later");
    }

    /// The reason for a client that repeats refused messages.
    static CloseReason tooOften() {
        return new CloseReason(POLICY, "you may only watch this shell, and tried to do more too often");
    }

    static CloseReason of(Failure failure) {
        return failure instanceof Failure.ShuttingDown
                ? stopping()
                : new CloseReason(OURS + ProblemJson.status(failure), failure.sentence());
    }

    /// Reports whether the close must be the only response to the client.
    boolean isRefusal() {
        return code == 4401 || code == 4403;
    }
}
