package dev.vivarium.core.egress;

/// Why a connection is not carried out, in words for the program inside. Immutable.
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

    /// What stands beside the status: some programs show it and nothing else.
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
