package dev.vivarium.sdk;

/// Supplier of tokens for one thread's sandbox. Thread-safe.
public interface TokenSource {
    /// A token that is not about to expire.
    SandboxToken current();

    /// Another token after the server rejected this one or the sandbox ended.
    SandboxToken renew(SandboxToken rejected);
}
