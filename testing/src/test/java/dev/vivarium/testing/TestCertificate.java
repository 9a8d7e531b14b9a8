package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// Self-signed certificate for `localhost` and `127.0.0.1`, in PEM files.
record TestCertificate(Path chain, Path key, X509Certificate certificate) {
    private static final String PASSWORD = "changeit";
    private static final Base64.Encoder PEM = Base64.getMimeEncoder(64, new byte[] {'\n'});

    /// Creates a certificate in `directory/cert.pem` and `directory/key.pem`. Replaces an earlier one.
    static TestCertificate in(Path directory) throws IOException, InterruptedException, GeneralSecurityException {
        Path file = directory.resolve("store.p12");
        Files.deleteIfExists(file);
        var keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "tls",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        PASSWORD))
                .redirectErrorStream(true)
                .start();
        String output = new String(keytool.getInputStream().readAllBytes());
        assertThat(keytool.waitFor()).as(output).isZero();
        var store = KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
        var certificate = (X509Certificate) store.getCertificate("tls");
        Path chain = directory.resolve("cert.pem");
        Path key = directory.resolve("key.pem");
        Files.writeString(chain, pem("CERTIFICATE", certificate.getEncoded()));
        Files.writeString(
                key,
                pem("PRIVATE KEY", store.getKey("tls", PASSWORD.toCharArray()).getEncoded()));
        return new TestCertificate(chain, key, certificate);
    }

    private static String pem(String type, byte[] bytes) {
        return "-----BEGIN " + type + "-----\n" + PEM.encodeToString(bytes) + "\n-----END " + type + "-----\n";
    }

    /// Returns a context that trusts only this certificate.
    SSLContext trust() throws IOException, GeneralSecurityException {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("tls", certificate);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
