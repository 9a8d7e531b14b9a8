package dev.vivarium.core;

import dev.vivarium.model.Failure;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/// Key that encrypts secrets for the store with AES-256-GCM, so that a reader of the database cannot use them.
/// Thread-safe.
///
/// The first start creates the key in `home/master.key`.
public final class MasterKey {
    private static final String FILE = "master.key";
    private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");
    private static final String CIPHER = "AES/GCM/NoPadding";
    private static final int NONCE = 12;
    private static final int TAG_BITS = 128;

    private final SecretKey key;
    private final SecureRandom random;

    private MasterKey(SecretKey key, SecureRandom random) {
        this.key = key;
        this.random = random;
    }

    public static MasterKey of(Path home, SecureRandom random) {
        Path file = home.resolve(FILE);
        String hex = SecretFile.read(file, () -> HexFormat.of().formatHex(bytes(random, 32)));
        Failure.InvalidRequest.require(
                HEX.matcher(hex).matches(),
                file.toString(),
                "does not hold 64 hexadecimal digits; put it back, or remove it and every token ends");
        return new MasterKey(new SecretKeySpec(HexFormat.of().parseHex(hex), "AES"), random);
    }

    public byte[] derive(String purpose) {
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("deriving a key", e);
        }
    }

    /// Encrypts a secret. `purpose` is authenticated: decryption needs the same value, so a ciphertext is invalid
    /// in another row.
    public String seal(byte[] secret, String purpose) {
        try {
            byte[] nonce = bytes(random, NONCE);
            byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, purpose).doFinal(secret);
            byte[] both = Arrays.copyOf(nonce, NONCE + sealed.length);
            System.arraycopy(sealed, 0, both, NONCE, sealed.length);
            return Base64.getEncoder().encodeToString(both);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("sealing a secret", e);
        }
    }

    /// Decrypts a secret. Throws if the master key or the purpose differs, or if the text was modified.
    public byte[] open(String text, String purpose) throws GeneralSecurityException {
        byte[] both = Base64.getDecoder().decode(text);
        byte[] nonce = Arrays.copyOf(both, NONCE);
        return cipher(Cipher.DECRYPT_MODE, nonce, purpose).doFinal(both, NONCE, both.length - NONCE);
    }

    private Cipher cipher(int mode, byte[] nonce, String purpose) throws GeneralSecurityException {
        var cipher = Cipher.getInstance(CIPHER);
        cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
        cipher.updateAAD(purpose.getBytes(StandardCharsets.UTF_8));
        return cipher;
    }

    public static byte[] bytes(SecureRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
