package dev.vivarium.cli;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/// How the answer is printed; every command that answers has these.
final class OutputOptions {
    /// When to use colour.
    enum Colour {
        AUTO,
        ALWAYS,
        NEVER;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(names = "--json", description = "Print JSON, one object per line, also for errors on standard error.")
    private boolean json;

    @Option(
            names = "--color",
            paramLabel = "WHEN",
            description = "auto, always or never; auto respects NO_COLOR, CLICOLOR_FORCE and TERM.")
    private Colour colour = Colour.AUTO;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Print this.")
    @SuppressWarnings("UnusedVariable") // Read by picocli.
    private boolean help;

    boolean isJson() {
        return json;
    }

    /// The option wins over `NO_COLOR`, which wins over `CLICOLOR_FORCE`, which wins over what the terminal is.
    boolean isColoured(Map<String, String> env, boolean tty) {
        return switch (colour) {
            case ALWAYS -> true;
            case NEVER -> false;
            case AUTO -> {
                if (!env.getOrDefault("NO_COLOR", "").isEmpty()) {
                    yield false;
                }
                String force = env.getOrDefault("CLICOLOR_FORCE", "0");
                yield !force.equals("0")
                        || (tty && !env.getOrDefault("TERM", "dumb").equals("dumb"));
            }
        };
    }
}
