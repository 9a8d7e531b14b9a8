package dev.vivarium.bench;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/// Tar archive of one file, the format of Docker's archive API. Stateless.
final class Tar {
    private static final int BLOCK = 512;

    private Tar() {}

    static byte[] of(String name, byte[] content) {
        int padded = (content.length + BLOCK - 1) / BLOCK * BLOCK;
        byte[] archive = new byte[BLOCK + padded + 2 * BLOCK];
        put(archive, 0, name);
        put(archive, 100, "0000644\0");
        put(archive, 108, "0000000\0");
        put(archive, 116, "0000000\0");
        put(archive, 124, String.format(Locale.ROOT, "%011o ", content.length));
        put(archive, 136, String.format(Locale.ROOT, "%011o ", 0));
        put(archive, 148, " ".repeat(8));
        put(archive, 156, "0");
        put(archive, 257, "ustar\00000");
        int sum = 0;
        for (byte one : Arrays.copyOf(archive, BLOCK)) {
            sum += one & 0xff;
        }
        put(archive, 148, String.format(Locale.ROOT, "%06o\0 ", sum));
        System.arraycopy(content, 0, archive, BLOCK, content.length);
        return archive;
    }

    private static void put(byte[] archive, int offset, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, archive, offset, bytes.length);
    }
}
