package dev.vivarium.testing;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// A [TestServer] that all tests of a class use: it is started before the first and closed after the last. Register it
/// as a static extension.
public final class SharedServer implements BeforeAllCallback, AfterAllCallback {
    private final List<String> arguments;
    private @Nullable TestServer server;

    private SharedServer(List<String> arguments) {
        this.arguments = arguments;
    }

    public static SharedServer with(String... arguments) {
        return new SharedServer(List.of(arguments));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        server = TestServer.start(arguments.toArray(String[]::new));
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (server != null) {
            server.close();
        }
    }

    public TestServer get() {
        return Objects.requireNonNull(server, "the server is started before the first test");
    }

    public Api api() {
        return get().api();
    }
}
