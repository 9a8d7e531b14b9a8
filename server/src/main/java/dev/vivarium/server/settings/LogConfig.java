package dev.vivarium.server.settings;

import dev.vivarium.core.log.Retention;

/// Format of the server log, and retention of sandbox logs. Immutable.
public record LogConfig(Format format, Retention retention) {
    /// Format of a log line, for people or for programs.
    public enum Format {
        TEXT,
        JSON
    }

    static LogConfig of(Settings settings) {
        return new LogConfig(
                settings.get(Catalogue.LOG_FORMAT),
                new Retention(settings.get(Catalogue.LOG_KEEP), settings.get(Catalogue.LOG_KEEP_SIZE)));
    }
}
