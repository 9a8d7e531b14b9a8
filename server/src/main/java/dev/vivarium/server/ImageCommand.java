package dev.vivarium.server;

import dev.vivarium.core.image.Images;
import dev.vivarium.core.image.WorkerImage;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;

/// `viv image`: builds, imports, lists and removes the root file systems of sandboxes. It works on the server's home
/// directory and needs no running server. Thread-safe.
final class ImageCommand {
    static final String HELP = """
            usage: viv image build [NAME] | import NAME SOURCE | list | remove NAME [--home DIR]

            Prepares the root file systems of sandboxes. Needs no running server.

              build [NAME]
                  Build the standard image, or with the name worker the image of agent runs.
                    --runtime claude,openhands  the agent SDKs of the worker image
                    --python DIR                a Python for the worker image
              import NAME SOURCE
                  Import a directory or an archive as an image.
              list
                  Print the names of all images.
              remove NAME
                  Delete an image.

              --home DIR
                  The home of the server.
            """;

    private static final String STANDARD = "debian";

    private final Consumer<String> out;

    ImageCommand(Consumer<String> out) {
        this.out = out;
    }

    void run(List<String> arguments) {
        var words = new ArrayList<>(
                arguments.stream().takeWhile(a -> !a.startsWith("--")).toList());
        var flags = new ArrayList<>(arguments.subList(words.size(), arguments.size()));
        var runtimes = take(flags, "--runtime");
        var python = take(flags, "--python");
        var images =
                Images.open(Settings.read(flags, System.getenv(), Path.of("")).home());
        String verb = words.isEmpty() ? "" : words.removeFirst();
        switch (verb) {
            case "build" -> {
                expect(words, 0, 1, "build [NAME]");
                var name = words.isEmpty() ? STANDARD : words.getFirst();
                var image = name.equals(WorkerImage.NAME)
                        ? images.buildWorker(order(runtimes, python), System.err::println)
                        : images.build(name, System.err::println);
                out.accept(image.name());
            }
            case "import" -> {
                expect(words, 2, 2, "import NAME SOURCE");
                var image = images.importFrom(words.get(0), Path.of(words.get(1)), System.err::println);
                out.accept(image.name());
            }
            case "list" -> {
                expect(words, 0, 0, "list");
                images.list().forEach(image -> out.accept(image.name()));
            }
            case "remove" -> {
                expect(words, 1, 1, "remove NAME");
                images.remove(words.getFirst());
            }
            default -> throw misused("build, import, list or remove");
        }
    }

    /// Removes an option and its value from `flags`. The remaining flags are the server's own.
    private static Optional<String> take(List<String> flags, String name) {
        int at = flags.indexOf(name);
        if (at < 0) {
            return Optional.empty();
        }
        if (at + 1 == flags.size()) {
            throw misused(name + " VALUE");
        }
        flags.remove(at);
        return Optional.of(flags.remove(at));
    }

    private static WorkerImage.Order order(Optional<String> runtimes, Optional<String> python) {
        return new WorkerImage.Order(runtimes.map(ImageCommand::runtimes), python.map(Path::of));
    }

    private static Set<WorkerImage.Runtime> runtimes(String text) {
        var known = Arrays.stream(WorkerImage.Runtime.values())
                .collect(Collectors.toMap(WorkerImage.Runtime::label, Function.identity()));
        var chosen = EnumSet.noneOf(WorkerImage.Runtime.class);
        for (var label : text.split(",", -1)) {
            var runtime = known.get(label);
            if (runtime == null) {
                throw misused("--runtime " + String.join(",", new TreeSet<>(known.keySet())) + ", or one of them");
            }
            chosen.add(runtime);
        }
        return chosen;
    }

    private static void expect(List<String> words, int min, int max, String usage) {
        if (words.size() < min || words.size() > max) {
            throw misused(usage);
        }
    }

    private static SandboxException misused(String usage) {
        return SandboxException.invalid("viv image", "takes " + usage);
    }
}
