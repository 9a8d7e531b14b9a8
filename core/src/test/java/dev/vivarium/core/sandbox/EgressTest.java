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

/// What a sandbox may reach, over its whole life.
@Timeout(300)
final class EgressTest {
    private static final String ASK = "curl -sS --max-time 120 -o /dev/null -w '%{http_code}' http://good.test:";

    @TempDir
    Path home;

    private ServerSocket outside;
    private House house;

    @BeforeEach
    void start() throws IOException {
        outside = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().name("outside").start(this::answer);
        house = House.at(home, config());
    }

    private static SandboxesConfig config() {
        var reach = new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("*.test:*")),
                List.of(AddressBlock.of("127.0.0.1")),
                List.of(),
                EgressConfig.CONNECTIONS,
                _ -> List.of(InetAddress.getLoopbackAddress()),
                EgressConfig::systemTls);
        return House.plain().withEgress(reach);
    }

    private void answer() {
        while (!outside.isClosed()) {
            try (Socket socket = outside.accept()) {
                socket.getInputStream().read(new byte[4096]);
                socket.getOutputStream().write("HTTP/1.1 204 No Content\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            } catch (IOException e) {
                // Closed by the test.
            }
        }
    }

    @AfterEach
    void stop() throws IOException {
        house.close();
        outside.close();
    }

    private NewSandbox request(String... hosts) {
        return NewSandbox.of(House.ANN, new ThreadId("t")).withEgress(Egress.of("egress", List.of(hosts)));
    }

    private String ask(Sandbox sandbox) {
        return House.output(sandbox, ASK + outside.getLocalPort() + "/");
    }

    private String good() {
        return "good.test:" + outside.getLocalPort();
    }

    @Test
    void aSandboxThatAsksForNothingHasNoWayOut() {
        Sandbox sandbox = house.sandbox("t");
        assertThat(sandbox.sandboxEgress().allowed()).isEqualTo(Egress.NONE);
        assertThat(House.output(sandbox, "env")).doesNotContainIgnoringCase("_proxy");
    }

    @Test
    void oneThatAsksForAHostReachesItAndIsSeen() {
        Sandbox sandbox = house.sandboxes.open(request(good())).sandbox();
        assertThat(ask(sandbox)).isEqualTo("204");
        await().until(() -> house.recorder.egressRecords.size() == 1);
        EgressRecord egressRecord = house.recorder.egressRecords.getFirst();
        assertThat(egressRecord.host()).isEqualTo("good.test");
        assertThat(egressRecord.verdict()).isEqualTo(EgressRecord.Verdict.ALLOWED);
        assertThat(egressRecord.took()).isPositive();
    }

    @Test
    void aSandboxFromThePoolTakesItsOwnListAtHandOut() {
        house.stop();
        house.open(config().withPoolSize(1));
        await().until(() -> house.sandboxes.pool().available() == 1);
        assertThat(ask(house.sandboxes.open(request(good())).sandbox())).isEqualTo("204");
    }

    @Test
    void theListCanBeChangedWhileItRuns() {
        Sandbox sandbox = house.sandbox("t");
        house.sandboxes.allow(sandbox, Egress.of("egress", List.of(good())));
        assertThat(ask(sandbox)).isEqualTo("204");
        house.sandboxes.allow(sandbox, Egress.of("egress", List.of("other.test")));
        assertThat(ask(sandbox)).isEqualTo("403");
        house.sandboxes.allow(sandbox, Egress.NONE);
        assertThat(House.output(sandbox, "env")).doesNotContainIgnoringCase("_proxy");
    }

    @Test
    void moreThanTheServerGivesIsRefused() {
        assertThatThrownBy(() -> house.sandboxes.open(request("example.com")))
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(Failure.NotAllowed.class));
        Sandbox sandbox = house.sandbox("t");
        assertThatThrownBy(() -> house.sandboxes.allow(sandbox, Egress.of("egress", List.of("*"))))
                .hasMessageContaining("*.test:*");
        assertThat(sandbox.sandboxEgress().allowed()).isEqualTo(Egress.NONE);
    }

    @Test
    void aRestartOfTheServerKeepsTheListAndTheWayThatProgramsKnow() {
        Sandbox before = house.sandboxes.open(request(good())).sandbox();
        String proxy = House.output(before, "echo $http_proxy");
        house.stop();
        house.open(config());
        Sandbox after = house.sandboxes.require(new ThreadId("t"));
        assertThat(after.sandboxEgress().allowed())
                .isEqualTo(before.sandboxEgress().allowed());
        await().until(() -> House.output(after, "echo $http_proxy").equals(proxy));
        assertThat(ask(after)).isEqualTo("204");
    }

    @Test
    void aServerThatGivesLessAfterARestartGivesLess() {
        house.sandboxes.open(request(good()));
        house.stop();
        var stricter = config().egress();
        house.open(config().withEgress(new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("other.test")),
                stricter.privateAddresses(),
                List.of(),
                8,
                stricter.resolver(),
                stricter.tls())));
        Sandbox after = house.sandboxes.require(new ThreadId("t"));
        await().until(() -> !after.sandboxEgress().env().isEmpty());
        assertThat(ask(after)).isEqualTo("403");
    }
}
