package dev.vivarium.cli;

import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Option;

/// Output options of all commands with a result.
final class OutputOptions {
    /// Use of colour.
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

    /// Order of precedence: the option, `NO_COLOR`, `CLICOLOR_FORCE`, the terminal.
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
