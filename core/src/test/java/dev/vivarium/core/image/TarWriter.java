package dev.vivarium.core.image;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Writer of small tar archives for tests, valid and invalid ones.
final class TarWriter {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    TarWriter directory(String name) {
        return entry(name, '5', "", 0755, new byte[0]);
    }

    TarWriter file(String name, String content) {
        return file(name, 0644, content);
    }

    TarWriter file(String name, int mode, String content) {
        return entry(name, '0', "", mode, content.getBytes(StandardCharsets.UTF_8));
    }

    TarWriter link(String name, String target) {
        return entry(name, '2', target, 0777, new byte[0]);
    }

    TarWriter hardLink(String name, String target) {
        return entry(name, '1', target, 0644, new byte[0]);
    }

    TarWriter device(String name) {
        return entry(name, '3', "", 0666, new byte[0]);
    }

    /// Adds an extended header that renames the next entry.
    TarWriter rename(String name) {
        return extend("path", name);
    }

    TarWriter extend(String key, String value) {
        var record = " " + key + "=" + value + "\n";
        int length = record.length() + 2;
        length = record.length() + Integer.toString(length).length();
        return extend(length + record);
    }

    /// Adds an extended header with this text, valid or not.
    TarWriter extend(String records) {
        return entry("pax", 'x', "", 0644, records.getBytes(StandardCharsets.UTF_8));
    }

    TarWriter blob(String name, byte[] content) {
        return entry(name, '0', "", 0644, content);
    }

    byte[] bytes() {
        var copy = new ByteArrayOutputStream();
        copy.writeBytes(out.toByteArray());
        copy.writeBytes(new byte[1024]);
        return copy.toByteArray();
    }

    private TarWriter entry(String name, char type, String link, int mode, byte[] content) {
        byte[] header = new byte[512];
        put(header, 0, name);
        put(header, 100, "%07o".formatted(mode));
        put(header, 108, "%07o".formatted(0));
        put(header, 116, "%07o".formatted(0));
        put(header, 124, "%011o".formatted(content.length));
        put(header, 136, "%011o".formatted(0));
        header[156] = (byte) type;
        put(header, 157, link);
        put(header, 257, "ustar\00000");
        Arrays.fill(header, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xff;
        }
        put(header, 148, "%06o\0 ".formatted(sum));
        out.writeBytes(header);
        out.writeBytes(Arrays.copyOf(content, (content.length + 511) / 512 * 512));
        return this;
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }
}
