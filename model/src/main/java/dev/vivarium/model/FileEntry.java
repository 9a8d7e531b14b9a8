package dev.vivarium.model;

import java.time.Instant;

/// Entry of a workspace. `name` is relative to the requested directory. Immutable.
public record FileEntry(String name, Type type, int mode, long size, Instant modified) {
    private static final String BITS = "rwxrwxrwx";

    public enum Type implements TextEnum {
        FILE('-'),
        DIRECTORY('d'),
        LINK('l'),
        FIFO('p'),
        SOCKET('s'),
        CHARACTER_DEVICE('c'),
        BLOCK_DEVICE('b'),
        /// Unknown: an older guest sends it for every entry that is no file, directory or link.
        OTHER('?');

        private final char letter;

        Type(char letter) {
            this.letter = letter;
        }
    }

    /// Returns the ten characters that `ls -l` shows, for example `-rw-r--r--`.
    public String permissions() {
        var text = new StringBuilder().append(type.letter);
        for (int i = 0; i < BITS.length(); i++) {
            boolean set = (mode & (1 << (BITS.length() - 1 - i))) != 0;
            text.append(set ? BITS.charAt(i) : '-');
        }
        return text.toString();
    }
}
