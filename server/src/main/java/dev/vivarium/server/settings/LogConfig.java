package dev.vivarium.server.settings;

import dev.vivarium.core.log.Retention;

/// How the log of the server looks, and how much is kept of the logs of sandboxes. Immutable.
public record LogConfig(Format format, Retention retention) {
    /// One line an event, for people or for machines.
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
