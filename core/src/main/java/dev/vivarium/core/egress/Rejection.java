package dev.vivarium.core.egress;

/// Rejection of a connection, with a message for the program inside the sandbox. Immutable.
final class Rejection extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final EgressRecord.Verdict verdict;

    Rejection(int status, EgressRecord.Verdict verdict, String sentence) {
        super(sentence, null, false, false);
        this.status = status;
        this.verdict = verdict;
    }

    static Rejection malformed(String sentence) {
        return new Rejection(400, EgressRecord.Verdict.MALFORMED, sentence);
    }

    static Rejection badAnswer(String sentence) {
        return new Rejection(502, EgressRecord.Verdict.UNREACHABLE, sentence);
    }

    int status() {
        return status;
    }

    EgressRecord.Verdict verdict() {
        return verdict;
    }

    String sentence() {
        return String.valueOf(getMessage());
    }

    /// Returns the reason phrase of the status line. Some programs show nothing else of the response.
    String reason() {
        return switch (verdict) {
            case HOST_REFUSED -> "Host Not On The Egress Allow-List";
            case ADDRESS_REFUSED -> "Address Not Public";
            case NAME_REFUSED -> "Another Host Named";
            case UNRESOLVED -> "Host Not Found";
            case UNREACHABLE -> status == 504 ? "Gateway Timeout" : "Bad Gateway";
            case MALFORMED -> "Bad Request";
            case ALLOWED, CUT -> "Service Unavailable";
        };
    }
}
