package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// Fixture with a real guest that forwards connections. The test defines the addresses of names, and the fixture
/// records every lookup.
abstract class EgressFixture {
    static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    final Map<String, List<InetAddress>> names = new ConcurrentHashMap<>();
    final List<String> lookups = new CopyOnWriteArrayList<>();
    final BlockingQueue<EgressRecord> egressRecords = new LinkedBlockingQueue<>();
    RealGuest real;
    EgressProxy egressProxy;
    SandboxEgress sandboxEgress;

    @BeforeEach
    void start() {
        real = RealGuest.start();
        names.put("good.test", List.of(LOOPBACK));
        open(List.of("127.0.0.1/32"), 128);
    }

    void open(List<String> permitted, int connections) {
        egressProxy = new EgressProxy(new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("*:*", "127.0.0.1:80")),
                permitted.stream().map(AddressBlock::of).toList(),
                List.of(),
                connections,
                this::resolve,
                EgressConfig::systemTls));
        sandboxEgress =
                new SandboxEgress(SandboxId.random(new SecureRandom()), egressProxy, Egress.NONE, egressRecords::add);
    }

    List<InetAddress> resolve(String name) throws UnknownHostException {
        lookups.add(name);
        return Optional.ofNullable(names.get(name)).orElseThrow(() -> new UnknownHostException(name));
    }

    @AfterEach
    void stop() {
        egressProxy.close();
        real.close();
    }

    void allow(String... rules) {
        sandboxEgress.allow(Egress.of("egress", Arrays.asList(rules)), Optional.of(real.guest()), () -> {});
    }

    int port() {
        return Integer.parseInt(sandboxEgress.env().get("http_proxy").replaceAll(".*:", ""));
    }

    Socket connect() throws IOException {
        return new Socket(LOOPBACK, port());
    }

    Socket tunnel(String target) throws IOException {
        var client = connect();
        send(client, "CONNECT " + target + " HTTP/1.1\r\n\r\n");
        assertThat(line(client)).endsWith("200 Connection Established");
        assertThat(line(client)).isEmpty();
        return client;
    }

    /// Sends the bytes and returns the whole response.
    String exchange(String request) throws IOException {
        try (var client = connect()) {
            send(client, request);
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    static String line(Socket client) throws IOException {
        var line = new StringBuilder();
        for (int c; (c = client.getInputStream().read()) >= 0 && c != '\n'; ) {
            line.append((char) c);
        }
        return line.toString().strip();
    }

    static boolean canConnect(int port) {
        try (var client = new Socket(LOOPBACK, port)) {
            return client.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
