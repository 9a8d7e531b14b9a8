package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Commands for git that need no git host. Each test is a user of its own.
@Timeout(300)
class GitCommandsTest {
    private static TestServer server;

    @TempDir
    private Path home;

    private CliRunner ann;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void prepare() {
        var admin = new CliRunner(server, home);
        assertThat(admin.viv("keys", "issue", "ann-" + home.getFileName())).isZero();
        ann = new CliRunner(server, home).with("VIV_API_KEY", admin.out().strip());
    }

    @Test
    void aCredentialIsStoredListedAndDeletedWithoutItsToken() {
        assertThat(ann.types("a-token-of-a-forge\n").viv("git", "credential", "add", "forge", "git.example.com"))
                .as(ann.err())
                .isZero();
        assertThat(ann.out())
                .startsWith("NAME\tHOST\tFORGE\tUSERNAME\tCREATED\nforge\tgit.example.com\tgitea\t")
                .doesNotContain("a-token");
        assertThat(ann.viv("git", "credential", "ls", "--json")).isZero();
        assertThat(ann.out()).contains("\"name\":\"forge\"").doesNotContain("a-token");
        assertThat(ann.viv("git", "credential", "ls", "-q")).isZero();
        assertThat(ann.out()).isEqualTo("forge\n");
        assertThat(ann.viv("git", "credential", "rm", "forge")).isZero();
        assertThat(ann.viv("git", "credential", "rm", "forge")).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void anEmptyTokenIsRejected() {
        assertThat(ann.types("").viv("git", "credential", "add", "forge", "git.example.com"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("token");
    }

    @Test
    void aRepositoryMustBeSelected() {
        assertThat(ann.viv("git", "branches")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("the repository must be given as --run RUN, or as --url URL --credential NAME");
        assertThat(ann.viv("git", "pr", "ls", "--url", "https://git.example.com/a/b"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("git", "commits", "--url", "file:///etc", "--credential", "none"))
                .isNotZero();
        assertThat(ann.viv("git", "status", "runaaaaaaaaaaaaaaaaaaaa")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("git", "pr", "merge", "x", "--run", "runaaaaaaaaaaaaaaaaaaaa"))
                .isEqualTo(ExitCode.USAGE);
        assertThat(ann.viv("git", "pr")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("a subcommand is missing: ls, show, open or merge");
        assertThat(ann.viv("git")).isEqualTo(ExitCode.USAGE);
    }
}
