package dev.vivarium.model;

/// The only exception type of the product. It carries a [Failure] that can be stored, sent and reconstructed.
/// Immutable.
public final class SandboxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Failure failure;

    public SandboxException(Failure failure) {
        super(failure.sentence());
        this.failure = failure;
    }

    public SandboxException(Failure failure, Throwable cause) {
        super(failure.sentence(), cause);
        this.failure = failure;
    }

    /// Returns an exception for a request whose `field` breaks `rule`, such as "must not be negative".
    public static SandboxException invalid(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }

    public Failure failure() {
        return failure;
    }
}
