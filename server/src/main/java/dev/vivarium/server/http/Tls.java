package dev.vivarium.server.http;

import dev.vivarium.core.Scheduler;
import dev.vivarium.model.SandboxException;
import dev.vivarium.server.settings.HttpConfig.TlsFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// TLS with a certificate from PEM files. Loads the files again after a change. Thread-safe.
///
/// If the changed files cannot be used, the old certificate stays and the log has the reason.
final class Tls implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);
    private static final Duration CHECK_EVERY = Duration.ofSeconds(2);

    private final TlsFiles files;
    private final SslContextFactory.Server context = new SslContextFactory.Server();
    private final Scheduler.Jobs jobs;

    /// Confined to the check.
    private List<Version> loaded;

    private record Version(FileTime modified, long bytes) {}

    /// Fails with `InvalidRequest` if the files cannot be used.
    Tls(TlsFiles files, Scheduler scheduler) {
        this.files = files;
        context.setKeyStore(PemFiles.read(files));
        this.loaded = versions();
        context.setKeyStorePassword(PemFiles.PASSWORD);
        context.setIncludeProtocols("TLSv1.2", "TLSv1.3");
        // Clients choose the order of ciphers for their hardware. All ciphers of the JDK for HTTP/2 are secure.
        context.setUseCipherSuitesOrder(false);
        this.jobs = scheduler.jobs().every(CHECK_EVERY, "TLS certificate", this::reloadIfChanged);
    }

    SslContextFactory.Server context() {
        return context;
    }

    private void reloadIfChanged() {
        List<Version> now;
        try {
            now = versions();
        } catch (UncheckedIOException e) {
            // The files are being replaced. The next check finds the new ones.
            return;
        }
        if (now.equals(loaded)) {
            return;
        }
        loaded = now;
        try {
            var store = PemFiles.read(files);
            context.reload(one -> one.setKeyStore(store));
            LOG.info("loaded the TLS certificate in {}", files.certificate());
        } catch (SandboxException e) {
            LOG.warn("kept the old TLS certificate: {}", e.failure().sentence());
        } catch (Exception e) {
            // Jetty declares `Exception`.
            LOG.warn("kept the old TLS certificate", e);
        }
    }

    private List<Version> versions() {
        try {
            return List.of(
                    new Version(Files.getLastModifiedTime(files.certificate()), Files.size(files.certificate())),
                    new Version(Files.getLastModifiedTime(files.key()), Files.size(files.key())));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        jobs.close();
    }
}
