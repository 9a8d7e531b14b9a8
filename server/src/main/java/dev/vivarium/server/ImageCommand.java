package dev.vivarium.server;

import dev.vivarium.core.image.Images;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// `viv image`: makes, imports, lists and removes the root file systems that sandboxes start from. It works on the
/// server's home directory and needs no running server. Thread-safe.
final class ImageCommand {
    private static final String STANDARD = "debian";

    private final Consumer<String> out;

    ImageCommand(Consumer<String> out) {
        this.out = out;
    }

    void run(List<String> arguments) {
        var words = new ArrayList<>(
                arguments.stream().takeWhile(a -> !a.startsWith("--")).toList());
        var flags = arguments.subList(words.size(), arguments.size());
        var images =
                Images.open(Settings.read(flags, System.getenv(), Path.of("")).home());
        String verb = words.isEmpty() ? "" : words.removeFirst();
        switch (verb) {
            case "build" -> {
                expect(words, 0, 1, "build [NAME]");
                var image = images.build(words.isEmpty() ? STANDARD : words.getFirst(), System.err::println);
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

    private static void expect(List<String> words, int least, int most, String usage) {
        if (words.size() < least || words.size() > most) {
            throw misused(usage);
        }
    }

    private static SandboxException misused(String usage) {
        return new SandboxException(new Failure.InvalidRequest("viv image", "takes " + usage));
    }
}
