package dev.vivarium.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/// External web servers on the loopback address, one with HTTP and one with HTTPS, that answer alike. The certificate
/// is valid for `good.test`, `api.test` and `git.test`.
final class ExternalWebServer implements AutoCloseable {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final HttpServer plain;
    private final HttpsServer secure;
    private final Path certificate;

    ExternalWebServer(Path directory) throws IOException {
        Path keys = directory.resolve("outside.p12");
        certificate = directory.resolve("outside.pem");
        keytool(keys, "-genkeypair", "-keyalg", "EC", "-dname", "CN=outside", "-validity", "30");
        keytool(keys, "-exportcert", "-rfc", "-file", certificate.toString());
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        plain = HttpServer.create(address, 0);
        secure = HttpsServer.create(address, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(context(keys)));
        for (HttpServer server : List.of(plain, secure)) {
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.start();
        }
    }

    ExternalWebServer on(String path, HttpHandler handler) {
        plain.createContext(path, handler);
        secure.createContext(path, handler);
        return this;
    }

    /// Responds with the headers of the request.
    static void echo(HttpExchange exchange) throws IOException {
        var text = new StringBuilder(exchange.getRequestMethod() + "\n");
        exchange.getRequestHeaders()
                .forEach((name, values) -> values.forEach(
                        value -> text.append(name).append(": ").append(value).append('\n')));
        respond(exchange, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    static void respond(HttpExchange exchange, byte[] body) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    int port() {
        return plain.getAddress().getPort();
    }

    int securePort() {
        return secure.getAddress().getPort();
    }

    /// Certificate that a client must trust, as PEM.
    Path certificate() {
        return certificate;
    }

    private static void keytool(Path keys, String verb, String... more) throws IOException {
        var command = new java.util.ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                verb,
                "-alias",
                "outside",
                "-storetype",
                "PKCS12",
                "-keystore",
                keys.toString(),
                "-storepass",
                new String(PASSWORD)));
        command.addAll(List.of(more));
        if (verb.equals("-genkeypair")) {
            command.addAll(List.of("-ext", "san=dns:good.test,dns:api.test,dns:git.test", "-ext", "bc=ca:true"));
        }
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IOException(output);
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static SSLContext context(Path keys) throws IOException {
        try (InputStream in = Files.newInputStream(keys)) {
            var store = KeyStore.getInstance("PKCS12");
            store.load(in, PASSWORD);
            var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(store, PASSWORD);
            var context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        plain.stop(0);
        secure.stop(0);
    }
}
