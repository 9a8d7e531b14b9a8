package dev.vivarium.core.image;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// Reader of tar archives: ustar with the pax and GNU extensions that images use. Rejects sparse files. Confined to one
/// thread.
final class TarReader {
    private static final int BLOCK = 512;
    private static final int LONGEST_EXTENSION = 1 << 20;

    private final InputStream in;
    private final Map<String, String> extensions = new HashMap<>();
    private Content content;

    TarReader(InputStream in) {
        this.in = in;
        this.content = new Content(in, 0);
    }

    /// Returns the next entry, if any. Skips the unread content of the previous one.
    Optional<TarEntry> next() throws IOException {
        extensions.clear();
        while (true) {
            content.finish();
            byte[] header = in.readNBytes(BLOCK);
            if (header.length < BLOCK) {
                throw new EOFException("the archive is cut off, or not a tar archive");
            }
            if (isZero(header)) {
                return Optional.empty();
            }
            requireChecksum(header);
            long size = requireSize(number(header, 124, 12));
            content = new Content(in, size);
            switch (header[156]) {
                case 'x' -> readPax();
                case 'L' -> extensions.put("path", cString(readExtension()));
                case 'K' -> extensions.put("linkpath", cString(readExtension()));
                case 'g', 'V' -> {}
                case 'S' -> throw new IOException("sparse files in a tar archive are not supported");
                default -> {
                    return Optional.of(entry(header, size));
                }
            }
        }
    }

    /// Returns the content of the current entry.
    InputStream content() {
        return content;
    }

    private TarEntry entry(byte[] header, long headerSize) throws IOException {
        var prefix = isUstar(header) ? text(header, 345, 155) : "";
        var name = prefix.isEmpty() ? text(header, 0, 100) : prefix + "/" + text(header, 0, 100);
        name = extensions.getOrDefault("path", name);
        long size = extensions.containsKey("size") ? requireSize(decimal("size")) : headerSize;
        var type = type(header[156], name);
        content = new Content(in, type == TarEntry.Type.FILE || type == TarEntry.Type.OTHER ? size : 0);
        return new TarEntry(
                name,
                type,
                extensions.getOrDefault("linkpath", text(header, 157, 100)),
                (int) number(header, 100, 8),
                extensions.containsKey("uid") ? decimal("uid") : number(header, 108, 8),
                extensions.containsKey("gid") ? decimal("gid") : number(header, 116, 8));
    }

    private static TarEntry.Type type(byte flag, String name) {
        return switch (flag) {
            case '0', 0, '7' -> name.endsWith("/") ? TarEntry.Type.DIRECTORY : TarEntry.Type.FILE;
            case '1' -> TarEntry.Type.HARD_LINK;
            case '2' -> TarEntry.Type.SYMLINK;
            case '5' -> TarEntry.Type.DIRECTORY;
            default -> TarEntry.Type.OTHER;
        };
    }

    private static long requireSize(long size) throws IOException {
        if (size < 0) {
            throw new IOException("a size in the tar archive is not one");
        }
        return size;
    }

    private long decimal(String key) throws IOException {
        try {
            return Long.parseLong(extensions.getOrDefault(key, ""));
        } catch (NumberFormatException e) {
            throw new IOException("a number in the tar archive is not one", e);
        }
    }

    /// Parses records of the form `length key=value\n`.
    private void readPax() throws IOException {
        byte[] records = readExtension();
        int at = 0;
        while (at < records.length) {
            int space = indexOf(records, (byte) ' ', at);
            int length = space < 0 ? 0 : recordLength(new String(records, at, space - at, StandardCharsets.US_ASCII));
            int equals = space < 0 ? -1 : indexOf(records, (byte) '=', space);
            if (equals < 0 || length <= equals - at || at + length > records.length) {
                throw new IOException("a damaged extended header in the tar archive");
            }
            var key = new String(records, space + 1, equals - space - 1, StandardCharsets.UTF_8);
            if (key.startsWith("GNU.sparse")) {
                throw new IOException("sparse files in a tar archive are not supported");
            }
            var value = new String(records, equals + 1, at + length - equals - 2, StandardCharsets.UTF_8);
            if (value.indexOf('\0') >= 0) {
                throw new IOException("a zero byte in a name of the tar archive");
            }
            extensions.put(key, value);
            at += length;
        }
    }

    /// Returns the length of a record, or zero (an invalid length) if the text is not a number or is too large.
    private static int recordLength(String digits) {
        return digits.matches("[0-9]{1,7}") ? Integer.parseInt(digits) : 0;
    }

    private byte[] readExtension() throws IOException {
        if (content.left > LONGEST_EXTENSION) {
            throw new IOException("a name in the tar archive is too long");
        }
        return content.readAllBytes();
    }

    private static int indexOf(byte[] bytes, byte wanted, int from) {
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static void requireChecksum(byte[] header) throws IOException {
        long sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            sum += i >= 148 && i < 156 ? ' ' : header[i] & 0xff;
        }
        if (sum != number(header, 148, 8)) {
            throw new IOException("not a tar archive, or a damaged one");
        }
    }

    private static boolean isUstar(byte[] header) {
        return text(header, 257, 5).equals("ustar") && header[262] == 0;
    }

    private static boolean isZero(byte[] header) {
        for (byte b : header) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    private static String text(byte[] header, int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    private static String cString(byte[] bytes) {
        return text(bytes, 0, bytes.length);
    }

    /// Parses octal text, or a binary number if the first bit is set.
    private static long number(byte[] header, int from, int length) throws IOException {
        if ((header[from] & 0x80) != 0) {
            long value = header[from] & 0x7f;
            for (int i = 1; i < length; i++) {
                value = value << 8 | header[from + i] & 0xff;
            }
            return value;
        }
        var digits = text(header, from, length).strip();
        try {
            return digits.isEmpty() ? 0 : Long.parseLong(digits, 8);
        } catch (NumberFormatException e) {
            throw new IOException("not a tar archive, or a damaged one", e);
        }
    }

    /// Content of one entry, with its padding.
    private static final class Content extends InputStream {
        private final InputStream in;
        private long left;
        private final int padding;

        Content(InputStream in, long size) {
            this.in = in;
            this.left = size;
            this.padding = (int) ((BLOCK - size % BLOCK) % BLOCK);
        }

        @Override
        public int read() throws IOException {
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left == 0) {
                return -1;
            }
            int count = in.read(bytes, offset, (int) Math.min(length, left));
            if (count < 0) {
                throw new EOFException("the tar archive ends in the middle of a file");
            }
            left -= count;
            return count;
        }

        void finish() throws IOException {
            in.skipNBytes(left + padding);
            left = 0;
        }
    }
}
