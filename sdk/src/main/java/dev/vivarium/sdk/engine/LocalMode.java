package dev.vivarium.sdk.engine;

/// What module sdk-local gives to a client that wants its sandboxes in this process; found by `ServiceLoader`, so that
/// the SDK alone carries no engine. Thread-safe.
public interface LocalMode {
    Engine open(LocalConfig config);
}
