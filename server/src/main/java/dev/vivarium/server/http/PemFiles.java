package dev.vivarium.server.http;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.HttpConfig.TlsFiles;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reader of PEM files with a certificate chain and a private key. Fails with `InvalidRequest`. Stateless.
final class PemFiles {
    /// Password of the key in memory. Key stores require one.
    static final String PASSWORD = "vivarium";

    private static final Pattern PKCS8 =
            Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END PRIVATE KEY-----");

    private PemFiles() {}

    /// Returns a key store with the certificate chain and its key.
    static KeyStore read(TlsFiles files) {
        Certificate[] chain = chain(files.certificate());
        PrivateKey key = key(files.key(), chain[0].getPublicKey());
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("tls", key, PASSWORD.toCharArray(), chain);
            return store;
        } catch (GeneralSecurityException | IOException e) {
            throw SandboxException.invalid("tls-key", "cannot be used with tls-cert: " + e.getMessage());
        }
    }

    private static Certificate[] chain(Path file) {
        try {
            var certificates = CertificateFactory.getInstance("X.509")
                    .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
            require(!certificates.isEmpty(), "tls-cert", file + " contains no certificate");
            return certificates.toArray(Certificate[]::new);
        } catch (IOException | GeneralSecurityException e) {
            throw SandboxException.invalid("tls-cert", "cannot read the certificates in " + file + ": " + e);
        }
    }

    private static PrivateKey key(Path file, PublicKey certified) {
        try {
            Matcher pem = PKCS8.matcher(Files.readString(file, StandardCharsets.US_ASCII));
            require(
                    pem.find(),
                    "tls-key",
                    file + " contains no PKCS #8 key; convert it with: openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW");
            var bytes = Base64.getMimeDecoder().decode(pem.group(1));
            PrivateKey key =
                    KeyFactory.getInstance(certified.getAlgorithm()).generatePrivate(new PKCS8EncodedKeySpec(bytes));
            require(isPair(key, certified), "tls-key", file + " is not the key of the certificate in tls-cert");
            return key;
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
            throw SandboxException.invalid("tls-key", "cannot read the key in " + file + ": " + e);
        }
    }

    private static boolean isPair(PrivateKey key, PublicKey certified) throws GeneralSecurityException {
        String algorithm = switch (certified.getAlgorithm()) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> certified.getAlgorithm();
        };
        byte[] text = {1, 2, 3};
        var signer = Signature.getInstance(algorithm);
        signer.initSign(key);
        signer.update(text);
        var verifier = Signature.getInstance(algorithm);
        verifier.initVerify(certified);
        verifier.update(text);
        return verifier.verify(signer.sign());
    }
}
