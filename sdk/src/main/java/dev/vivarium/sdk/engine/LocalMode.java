package dev.vivarium.sdk.engine;

/// Service provider interface of module sdk-local. `ServiceLoader` finds it, so that the SDK does not depend on the
/// engine. Thread-safe.
public interface LocalMode {
    Engine open(LocalConfig config);
}
