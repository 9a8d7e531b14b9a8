package dev.vivarium.server.telemetry;

import dev.vivarium.json.Json;
import dev.vivarium.server.settings.LogConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.logging.ConsoleHandler;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import tools.jackson.core.JsonGenerator;

/// Log of the server: `java.util.logging` to standard error, one line per record, as text or JSON. Stateless.
///
/// Standard output is for the result of the command.
public final class Logs {
    private Logs() {}

    /// Configures the log of the whole process.
    public static void configure(LogConfig config) {
        LogManager.getLogManager().reset();
        var handler = new ConsoleHandler();
        handler.setFormatter(
                switch (config.format()) {
                    case TEXT -> new Text();
                    case JSON -> new Structured();
                });
        var root = Logger.getLogger("");
        root.addHandler(handler);
        root.setLevel(Level.INFO);
        JETTY.setLevel(Level.WARNING);
    }

    /// A strong reference: the log manager holds loggers weakly and would lose the level.
    private static final Logger JETTY = Logger.getLogger("org.eclipse.jetty");

    static final class Text extends Formatter {
        @Override
        public String format(LogRecord record) {
            var line = new StringBuilder()
                    .append(record.getInstant().truncatedTo(ChronoUnit.MILLIS))
                    .append(' ')
                    .append(record.getLevel().getName())
                    .append(' ');
            if (event(record) == null) {
                line.append('[').append(shortName(record)).append("] ").append(LogText.escaped(formatMessage(record)));
            } else {
                line.append(record.getMessage());
            }
            line.append('\n');
            if (record.getThrown() != null) {
                line.append(stack(record.getThrown()));
            }
            return line.toString();
        }
    }

    static final class Structured extends Formatter {
        @Override
        public String format(LogRecord record) {
            byte[] json = Json.bytes(out -> {
                Json.time(out, "time", record.getInstant());
                out.writeStringProperty("level", record.getLevel().getName());
                out.writeStringProperty("logger", shortName(record));
                LogEvent event = event(record);
                if (event == null) {
                    out.writeStringProperty("message", formatMessage(record));
                } else {
                    event.fields()
                            .keySet()
                            .forEach(name -> event.get(name).ifPresent(value -> write(out, name, value)));
                }
                if (record.getThrown() != null) {
                    out.writeStringProperty("stack", stack(record.getThrown()));
                }
            });
            return new String(json, StandardCharsets.UTF_8) + "\n";
        }
    }

    private static void write(JsonGenerator out, String name, Object value) {
        if (value instanceof Long number) {
            out.writeNumberProperty(name, number);
        } else {
            out.writeStringProperty(name, value.toString());
        }
    }

    private static @org.jspecify.annotations.Nullable LogEvent event(LogRecord record) {
        Object[] parameters = record.getParameters();
        return parameters != null && parameters.length == 1 && parameters[0] instanceof LogEvent event ? event : null;
    }

    private static String shortName(LogRecord record) {
        String name = String.valueOf(record.getLoggerName());
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private static String stack(Throwable thrown) {
        var text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
