package dev.vivarium.server.settings;

import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/// Certificate authorities that the host trusts for TLS on behalf of a sandbox: those of Java and those in a file.
/// Stateless.
final class CertificateAuthorities {
    private CertificateAuthorities() {}

    /// Returns a factory that also trusts the authorities in a PEM file.
    static SSLSocketFactory trusting(Path file) {
        try (InputStream pem = Files.newInputStream(file)) {
            var all = KeyStore.getInstance(KeyStore.getDefaultType());
            all.load(null, null);
            for (X509Certificate known : standard().getAcceptedIssuers()) {
                all.setCertificateEntry("java-" + all.size(), known);
            }
            for (Certificate added : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                all.setCertificateEntry("added-" + all.size(), added);
            }
            var context = SSLContext.getInstance("TLS");
            context.init(null, managers(all).getTrustManagers(), null);
            return context.getSocketFactory();
        } catch (IOException | GeneralSecurityException e) {
            throw new SandboxException(
                    new Failure.InvalidRequest(
                            Catalogue.EGRESS_CA.key(), "holds no certificates that can be read: " + e.getMessage()),
                    e);
        }
    }

    private static X509TrustManager standard() throws GeneralSecurityException {
        return (X509TrustManager) managers(null).getTrustManagers()[0];
    }

    private static TrustManagerFactory managers(@Nullable KeyStore store) throws GeneralSecurityException {
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        return managers;
    }
}
