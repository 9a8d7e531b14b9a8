package dev.vivarium.server.settings;

/// How the log looks. Immutable.
public record LogConfig(Format format) {
    /// One line an event, for people or for machines.
    public enum Format {
        TEXT,
        JSON
    }

    static LogConfig of(Settings settings) {
        return new LogConfig(settings.get(Catalogue.LOG_FORMAT));
    }
}
