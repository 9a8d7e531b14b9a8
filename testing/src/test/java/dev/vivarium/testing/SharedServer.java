package dev.vivarium.testing;

import dev.vivarium.server.settings.Config;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// [TestServer] for all tests of a class, started before the first test and closed after the last. Register it as a
/// static extension.
public final class SharedServer implements BeforeAllCallback, AfterAllCallback {
    private final UnaryOperator<Config> change;
    private final List<String> arguments;
    private @Nullable TestServer server;

    private SharedServer(UnaryOperator<Config> change, List<String> arguments) {
        this.change = change;
        this.arguments = arguments;
    }

    public static SharedServer with(String... arguments) {
        return with(config -> config, arguments);
    }

    /// Returns a server with a change of its configuration that no setting allows.
    public static SharedServer with(UnaryOperator<Config> change, String... arguments) {
        return new SharedServer(change, List.of(arguments));
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        server = TestServer.start(change, arguments.toArray(String[]::new));
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
