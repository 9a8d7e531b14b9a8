package dev.vivarium.server.model;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/// Incremental parser for the data of server-sent events. Confined to one worker.
final class SseParser {
    private static final String DATA = "data:";

    /// Maximum length of a line. The parser skips longer lines.
    private static final int MAX_LINE = 4 * 1024 * 1024;

    private final Consumer<String> reader;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean isTooLong;

    SseParser(Consumer<String> reader) {
        this.reader = reader;
    }

    void see(byte[] piece) {
        int from = 0;
        for (int at = 0; at < piece.length; at++) {
            // A CRLF counts as the end of a line and of an empty line.
            if (piece[at] == '\n' || piece[at] == '\r') {
                add(piece, from, at - from);
                end();
                from = at + 1;
            }
        }
        add(piece, from, piece.length - from);
    }

    private void add(byte[] piece, int from, int count) {
        isTooLong |= line.size() + count > MAX_LINE;
        if (!isTooLong) {
            line.write(piece, from, count);
        }
    }

    /// Ends the current line.
    void end() {
        String text = line.toString(StandardCharsets.UTF_8).strip();
        line.reset();
        boolean isRead = !isTooLong && text.startsWith(DATA);
        isTooLong = false;
        if (isRead) {
            reader.accept(text.substring(DATA.length()).strip());
        }
    }
}
