package dev.vivarium.demo;

import dev.vivarium.core.Undo;
import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.core.provider.Provider;
import dev.vivarium.scripted.Script;
import dev.vivarium.scripted.ScriptedModel;
import dev.vivarium.server.Providers;
import dev.vivarium.server.Vivarium;
import dev.vivarium.server.settings.Config;
import dev.vivarium.server.settings.Settings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// Server in a temporary directory on a free port, with a scripted model. Thread-safe.
///
/// Closing it removes everything, including sandboxes.
final class DemoServer implements AutoCloseable {
    private final Path home;
    private final Config config;
    private final ScriptedModel model;
    private final Vivarium server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private DemoServer(Path home, Config config, ScriptedModel model, Vivarium server) {
        this.home = home;
        this.config = config;
        this.model = model;
        this.server = server;
    }

    /// Starts the server with the agents' image, if this machine has one.
    static DemoServer start(Script script, Optional<Path> image) {
        try (var undo = new Undo()) {
            Path home = Files.createTempDirectory("viv-demo-").toRealPath();
            undo.add("remove " + home, () -> delete(home));
            if (image.isPresent()) {
                FileTrees.make(home.resolve("images"), "rwx------");
                Files.createSymbolicLink(home.resolve("images/worker"), image.get());
            }
            var model = ScriptedModel.start(script, 0);
            undo.add("close the model", model::close);
            var config = Config.of(Settings.read(arguments(home, model.uri()), Map.of(), home));
            var server = Vivarium.start(config, Providers.open(config));
            undo.keep();
            return new DemoServer(home, config, model, server);
        } catch (IOException e) {
            throw new UncheckedIOException("making a directory for the demo", e);
        }
    }

    private static List<String> arguments(Path home, URI model) throws IOException {
        var arguments = new ArrayList<>(List.of("--home", home.toString(), "--port", "0", "--pool-size", "0"));
        arguments.addAll(List.of("--model-url", model.toString(), "--model-key", "no-key-is-needed"));
        if (!isRoot()) {
            arguments.addAll(List.of("--provider", "process"));
        }
        return arguments;
    }

    static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    URI uri() {
        return server.uri();
    }

    String key() {
        try {
            return Files.readString(home.resolve("credentials")).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            return;
        }
        try (var undo = new Undo()) {
            undo.add("remove " + home, () -> delete(home));
            undo.add("end the sandboxes", this::endSandboxes);
            undo.add("close the model", model::close);
            undo.add("close the server", server::close);
        }
    }

    private void endSandboxes() {
        try (var provider = Providers.open(config)) {
            for (var id : provider.survivors()) {
                provider.remove(id, Provider.Disk.ERASE);
            }
        }
    }

    private static void delete(Path home) {
        try {
            FileTrees.delete(home);
        } catch (IOException e) {
            throw new UncheckedIOException("removing " + home, e);
        }
    }
}
