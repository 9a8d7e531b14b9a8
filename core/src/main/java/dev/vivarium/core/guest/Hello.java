package dev.vivarium.core.guest;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/// What a guest says first. Immutable.
record Hello(int generation, long features, String secret, String build, List<Survivor> survivors) {
    private static final byte[] MAGIC = "VIVG".getBytes(StandardCharsets.US_ASCII);

    Hello {
        survivors = List.copyOf(survivors);
    }

    static Hello read(Fields fields) {
        if (!MessageDigest.isEqual(MAGIC, fields.fixed(MAGIC.length))) {
            throw new ProtocolViolation("HELLO does not begin with VIVG");
        }
        int generation = fields.u16();
        long features = fields.i64();
        String secret = fields.string();
        String build = fields.words();
        return new Hello(generation, features, secret, build, survivors(fields));
    }

    /// Compares in constant time: the answer must not tell how much of a guess was right.
    boolean knows(String expected) {
        return MessageDigest.isEqual(
                secret.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
    }

    boolean offers(Service service) {
        return (features >>> service.code & 1) != 0;
    }

    @Override
    public String toString() {
        return "Hello[generation " + generation + ", build " + build + ", " + survivors.size() + " survivors]";
    }

    private static List<Survivor> survivors(Fields fields) {
        long count = fields.u32();
        var survivors = new ArrayList<Survivor>();
        for (long i = 0; i < count; i++) {
            int channel = fields.i32();
            fields.u8(); // service: EXEC and PTY are let go alike
            survivors.add(new Survivor(channel, fields.i32(), Instant.ofEpochMilli(fields.i64())));
            if (channel <= 0) {
                throw new ProtocolViolation("HELLO names channel " + Integer.toUnsignedString(channel));
            }
        }
        return survivors;
    }
}
