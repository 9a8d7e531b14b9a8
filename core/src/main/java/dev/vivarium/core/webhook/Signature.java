package dev.vivarium.core.webhook;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Signature of a request: HMAC-SHA-256 of the time in seconds, a dot, and the body. Stateless.
public final class Signature {
    public static final String HEADER = "Vivarium-Signature";

    private static final String ALGORITHM = "HmacSHA256";

    private Signature() {}

    /// Returns the value of the header, `t=TIME,v1=HEX`.
    public static String of(String secret, Instant at, byte[] body) {
        try {
            var mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM));
            mac.update((at.getEpochSecond() + ".").getBytes(StandardCharsets.US_ASCII));
            return "t=" + at.getEpochSecond() + ",v1=" + HexFormat.of().formatHex(mac.doFinal(body));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("signing a request", e);
        }
    }
}
