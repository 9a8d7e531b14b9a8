package dev.vivarium.model;

import java.time.Instant;

/// A name in a workspace and what is there. `name` is relative to the directory that was asked about. Immutable.
public record FileEntry(String name, Type type, int mode, long size, Instant modified) {
    private static final String BITS = "rwxrwxrwx";

    /// What kind of thing it is.
    public enum Type {
        FILE('-'),
        DIRECTORY('d'),
        LINK('l'),
        OTHER('?');

        private final char letter;

        Type(char letter) {
            this.letter = letter;
        }
    }

    /// The ten characters that `ls -l` shows, for example `-rw-r--r--`.
    public String permissions() {
        var text = new StringBuilder().append(type.letter);
        for (int i = 0; i < BITS.length(); i++) {
            boolean set = (mode & (1 << (BITS.length() - 1 - i))) != 0;
            text.append(set ? BITS.charAt(i) : '-');
        }
        return text.toString();
    }
}
