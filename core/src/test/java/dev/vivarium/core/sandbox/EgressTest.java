package dev.vivarium.core.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.egress.AddressBlock;
import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.egress.EgressRecord;
import dev.vivarium.model.Egress;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.ThreadId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Egress of a sandbox over its whole life.
@Timeout(300)
final class EgressTest {
    private static final String REQUEST = "curl -sS --max-time 120 -o /dev/null -w '%{http_code}' http://good.test:";

    @TempDir
    Path home;

    private ServerSocket outside;
    private TestEngine engine;

    @BeforeEach
    void start() throws IOException {
        outside = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().name("outside").start(this::answer);
        engine = TestEngine.at(home, config());
    }

    private static SandboxesConfig config() {
        var egress = new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("*.test:*")),
                List.of(AddressBlock.of("127.0.0.1")),
                List.of(),
                EgressConfig.CONNECTIONS,
                _ -> List.of(InetAddress.getLoopbackAddress()),
                EgressConfig::systemTls);
        return TestEngine.plain().withEgress(egress);
    }

    private void answer() {
        while (!outside.isClosed()) {
            try (Socket socket = outside.accept()) {
                socket.getInputStream().read(new byte[4096]);
                socket.getOutputStream().write("HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                // The test has closed the socket.
            }
        }
    }

    @AfterEach
    void stop() throws IOException {
        engine.close();
        outside.close();
    }

    private NewSandbox request(String... hosts) {
        return NewSandbox.of(TestEngine.ANN, new ThreadId("t")).withEgress(Egress.of("egress", List.of(hosts)));
    }

    private String statusOf(Sandbox sandbox) {
        return TestEngine.output(sandbox, REQUEST + outside.getLocalPort() + "/");
    }

    private String good() {
        return "good.test:" + outside.getLocalPort();
    }

    @Test
    void sandboxHasNoEgressByDefault() {
        Sandbox sandbox = engine.sandbox("t");
        assertThat(sandbox.sandboxEgress().allowed()).isEqualTo(Egress.NONE);
        assertThat(TestEngine.output(sandbox, "env")).doesNotContainIgnoringCase("_proxy");
    }

    @Test
    void allowedHostIsReachedAndRecorded() {
        Sandbox sandbox = engine.sandboxes.open(request(good())).sandbox();
        assertThat(statusOf(sandbox)).isEqualTo("204");
        await().until(() -> engine.recorder.egressRecords.size() == 1);
        EgressRecord egressRecord = engine.recorder.egressRecords.getFirst();
        assertThat(egressRecord.host()).isEqualTo("good.test");
        assertThat(egressRecord.verdict()).isEqualTo(EgressRecord.Verdict.ALLOWED);
        assertThat(egressRecord.took()).isPositive();
    }

    @Test
    void pooledSandboxGetsItsOwnAllowList() {
        engine.stop();
        engine.open(config().withPoolSize(1));
        await().until(() -> engine.sandboxes.pool().available() == 1);
        assertThat(statusOf(engine.sandboxes.open(request(good())).sandbox())).isEqualTo("204");
    }

    @Test
    void allowListOfARunningSandboxCanBeChanged() {
        Sandbox sandbox = engine.sandbox("t");
        engine.sandboxes.allow(sandbox, Egress.of("egress", List.of(good())));
        assertThat(statusOf(sandbox)).isEqualTo("204");
        engine.sandboxes.allow(sandbox, Egress.of("egress", List.of("other.test")));
        assertThat(statusOf(sandbox)).isEqualTo("403");
        engine.sandboxes.allow(sandbox, Egress.NONE);
        assertThat(TestEngine.output(sandbox, "env")).doesNotContainIgnoringCase("_proxy");
    }

    @Test
    void allowListBeyondTheServerLimitIsRejected() {
        assertThatThrownBy(() -> engine.sandboxes.open(request("example.com")))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(Failure.NotAllowed.class));
        Sandbox sandbox = engine.sandbox("t");
        assertThatThrownBy(() -> engine.sandboxes.allow(sandbox, Egress.of("egress", List.of("*"))))
                .hasMessageContaining("*.test:*");
        assertThat(sandbox.sandboxEgress().allowed()).isEqualTo(Egress.NONE);
    }

    @Test
    void restartKeepsTheAllowListAndTheProxyAddress() {
        Sandbox before = engine.sandboxes.open(request(good())).sandbox();
        String proxy = TestEngine.output(before, "echo $http_proxy");
        engine.stop();
        engine.open(config());
        Sandbox after = engine.sandboxes.require(TestEngine.thread("t"));
        assertThat(after.sandboxEgress().allowed())
                .isEqualTo(before.sandboxEgress().allowed());
        await().until(() -> TestEngine.output(after, "echo $http_proxy").equals(proxy));
        assertThat(statusOf(after)).isEqualTo("204");
    }

    @Test
    void stricterServerLimitAppliesAfterARestart() {
        engine.sandboxes.open(request(good()));
        engine.stop();
        var stricter = config().egress();
        engine.open(config().withEgress(new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("other.test")),
                stricter.privateAddresses(),
                List.of(),
                8,
                stricter.resolver(),
                stricter.tls())));
        Sandbox after = engine.sandboxes.require(TestEngine.thread("t"));
        await().until(() -> !after.sandboxEgress().env().isEmpty());
        assertThat(statusOf(after)).isEqualTo("403");
    }
}
