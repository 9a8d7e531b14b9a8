package dev.vivarium.core;

import java.util.HexFormat;
import java.util.Optional;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/// Id of a store. Disks, machines and snapshots carry the id of the store that has their rows. Immutable.
public record StoreId(String value) {
    /// The volume label of an ext4 file system has 16 bytes.
    private static final Pattern FORM = Pattern.compile("[0-9a-f]{16}");

    private static final int BYTES = 8;

    public StoreId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("a store id has 16 hexadecimal digits, not '" + value + "'");
        }
    }

    public static StoreId random(RandomGenerator random) {
        var bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return new StoreId(HexFormat.of().formatHex(bytes));
    }

    /// Empty if `text` is not a store id.
    public static Optional<StoreId> parse(String text) {
        return FORM.matcher(text).matches() ? Optional.of(new StoreId(text)) : Optional.empty();
    }

    @Override
    public String toString() {
        return value;
    }
}
