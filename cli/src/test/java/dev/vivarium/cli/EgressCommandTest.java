package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class EgressCommandTest {
    private static TestServer server;

    private final String thread = "cli-" + UUID.randomUUID();

    @TempDir
    private Path home;

    private CliRunner ann;

    @BeforeAll
    static void start() {
        server = TestServer.start("--egress-most", "*.test:*");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void prepare() {
        ann = new CliRunner(server, home);
        assertThat(ann.viv("exec", thread, "--", "true")).isZero();
    }

    @Test
    void allowListIsPrintedAndChanged() {
        assertThat(ann.viv("egress", thread)).isZero();
        assertThat(ann.out()).isEmpty();
        assertThat(ann.viv("egress", thread, "--allow", "A.test,*.b.test", "--allow", "c.test:8443"))
                .isZero();
        assertThat(ann.out()).isEqualTo("a.test\n*.b.test\nc.test:8443\n");
        assertThat(ann.viv("egress", thread, "--deny", "a.test")).isZero();
        assertThat(ann.out()).isEqualTo("*.b.test\nc.test:8443\n");
        assertThat(ann.viv("egress", thread, "--none", "--allow", "d.test", "--json"))
                .isZero();
        assertThat(ann.out()).contains("\"allow\":[\"d.test\"]", thread);
        assertThat(ann.viv("exec", thread, "--", "echo $HTTPS_PROXY")).isZero();
        assertThat(ann.out()).startsWith("http://127.0.0.1:");
        assertThat(ann.viv("egress", thread, "--none")).isZero();
        assertThat(ann.out()).isEmpty();
    }

    @Test
    void invalidRulesAreRejectedWithAReason() {
        assertThat(ann.viv("egress", thread, "--allow", "http://a.test")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("http://a.test");
        assertThat(ann.viv("egress", thread, "--allow", "example.com")).isEqualTo(ExitCode.DENIED);
        assertThat(ann.err()).contains("*.test:*");
        assertThat(ann.viv("egress", "cli-" + UUID.randomUUID())).isEqualTo(ExitCode.NOT_FOUND);
    }
}
