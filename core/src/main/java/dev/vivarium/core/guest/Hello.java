package dev.vivarium.core.guest;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// HELLO: the first frame of a guest. Immutable.
record Hello(int generation, long features, String secret, String build, List<SurvivingProcess> survivors) {
    private static final long KEEPS_PROCESSES = 1L << 32;
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
        String build = fields.displayText();
        return new Hello(generation, features, secret, build, survivors(fields));
    }

    /// Compares in constant time, so that the duration does not reveal a matching prefix.
    boolean hasSecret(String expected) {
        return MessageDigest.isEqual(
                secret.getBytes(StandardCharsets.UTF_8), expected.getBytes(StandardCharsets.UTF_8));
    }

    boolean offers(Service service) {
        return (features >>> service.code & 1) != 0;
    }

    /// Reports whether the guest can keep processes for the next host.
    boolean canKeepProcesses() {
        return (features & KEEPS_PROCESSES) != 0;
    }

    @Override
    public String toString() {
        return "Hello[generation " + generation + ", build " + build + ", " + survivors.size() + " survivors]";
    }

    private static List<SurvivingProcess> survivors(Fields fields) {
        long count = fields.u32();
        var survivors = new LinkedHashMap<Integer, SurvivingProcess>();
        for (long i = 0; i < count; i++) {
            int channel = fields.i32();
            Service service = fields.u8() == Service.PTY.code ? Service.PTY : Service.EXEC;
            var started = new SurvivingProcess(
                    channel, service, fields.i32(), Instant.ofEpochMilli(fields.i64()), Optional.empty());
            survivors.put(channel, started);
            if (channel <= 0) {
                throw new ProtocolViolation("HELLO names channel " + Integer.toUnsignedString(channel));
            }
        }
        return withNames(fields, survivors);
    }

    /// Adds the names of kept processes. An older guest keeps no processes and sends no names.
    private static List<SurvivingProcess> withNames(Fields fields, Map<Integer, SurvivingProcess> survivors) {
        long count = fields.isEmpty() ? 0 : fields.u32();
        for (long i = 0; i < count; i++) {
            int channel = fields.i32();
            String name = fields.string();
            var kept = survivors.get(channel);
            if (kept == null) {
                throw new ProtocolViolation("HELLO has a name for channel " + Integer.toUnsignedString(channel)
                        + ", which it does not list");
            }
            survivors.put(
                    channel,
                    new SurvivingProcess(channel, kept.service(), kept.pid(), kept.started(), Optional.of(name)));
        }
        return List.copyOf(survivors.values());
    }
}
