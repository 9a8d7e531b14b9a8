package dev.vivarium.scripted;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// Entry point: `java -cp … dev.vivarium.scripted.Main SCRIPT [PORT]`. Stateless.
///
/// It plays a script until standard input ends, so that it never outlives the program that started it. `PUT
/// /scripted/script` replaces the script.
public final class Main {
    private static final int USAGE = 64;

    private Main() {}

    public static void main(String[] args) throws IOException {
        if (args.length < 1 || args.length > 2) {
            System.err.println("usage: scripted SCRIPT [PORT]");
            System.exit(USAGE);
        }
        try (var model = ScriptedModel.start(script(args[0]), args.length == 2 ? Integer.parseInt(args[1]) : 0)) {
            System.out.println("ready on " + model.uri());
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private static Script script(String file) throws IOException {
        try {
            return Script.parse(Files.readString(Path.of(file)));
        } catch (IllegalArgumentException e) {
            System.err.println("scripted: " + file + ": " + e.getMessage());
            System.exit(USAGE);
            throw e;
        }
    }
}
