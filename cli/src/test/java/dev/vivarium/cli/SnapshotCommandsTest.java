package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.cli.Terminal.Ttys;
import dev.vivarium.json.Json;
import dev.vivarium.testing.TestServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class SnapshotCommandsTest {
    private static final Ttys INTERACTIVE = new Ttys(true, true, true, 120);

    private static TestServer server;

    private final String thread = "cli-" + UUID.randomUUID();

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
        ann = new CliRunner(server, home);
        assertThat(ann.viv("exec", thread, "--", "echo before > file")).isZero();
    }

    @Test
    void restoreBringsBackTheFiles() {
        String id = take();
        ann.viv("exec", thread, "--", "echo after > file");

        assertThat(ann.viv("snapshot", "restore", id, "--yes")).isZero();

        assertThat(content(thread)).isEqualTo("before\n");
    }

    @Test
    void nameRefersToTheNewestSnapshot() {
        take("--name", "mark");
        ann.viv("exec", thread, "--", "echo later > file");
        take("--name", "mark");
        ann.viv("exec", thread, "--", "echo last > file");

        assertThat(ann.viv("snapshot", "restore", thread + "@mark", "--json", "--yes"))
                .isZero();

        assertThat(Json.answer(ann.out()).string("state")).isEqualTo("running");
        assertThat(content(thread)).isEqualTo("later\n");
    }

    @Test
    void snapshotsAreListedAsTableTabsAndJson() {
        String id = take("--name", "one two");
        assertThat(ann.viv("snapshot", "ls", thread)).isZero();
        assertThat(ann.out()).startsWith("SNAPSHOT\tTAKEN\tSIZE\tNAME\n").contains(id + "\t20", "\tone two\n");
        assertThat(ann.viv("snapshot", "ls", thread, "-q")).isZero();
        assertThat(ann.out()).isEqualTo(id + "\n");
        assertThat(ann.viv("snapshot", "ls", thread, "--json")).isZero();
        assertThat(Json.answer(ann.out()).string("name")).isEqualTo("one two");
        assertThat(Json.answer(ann.out()).integer("bytes")).isPositive();
        assertThat(ann.at(INTERACTIVE).viv("snapshot", "ls", thread)).isZero();
        assertThat(ann.out()).containsPattern(id + "  \\d+s +[0-9.]+ k?B +one two\n");
    }

    @Test
    void rmDeletesSnapshots() {
        String first = take();
        String second = take("--name", "second");
        assertThat(ann.viv("snapshot", "rm", first, thread + "@second")).isZero();
        assertThat(ann.viv("snapshot", "ls", thread, "-q")).isZero();
        assertThat(ann.out()).isEmpty();
        assertThat(ann.viv("snapshot", "restore", second)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.err()).contains(second).contains("viv snapshot ls");
    }

    @Test
    void forkOfAThreadLeavesNoSnapshot() {
        String other = "fork-" + UUID.randomUUID();
        assertThat(ann.viv("fork", thread, other, "--json")).isZero();
        assertThat(Json.answer(ann.out()).string("thread_id")).isEqualTo(other);
        ann.viv("exec", other, "--", "echo fork > file");
        assertThat(content(thread)).isEqualTo("before\n");
        assertThat(content(other)).isEqualTo("fork\n");
        assertThat(ann.viv("snapshot", "ls", thread, "-q")).isZero();
        assertThat(ann.out()).isEmpty();
    }

    @Test
    void forkOfASnapshotHasItsFiles() {
        String id = take("--name", "mark");
        ann.viv("exec", thread, "--", "echo after > file");
        String byId = "fork-" + UUID.randomUUID();
        String byName = "fork-" + UUID.randomUUID();
        assertThat(ann.viv("fork", id, byId)).isZero();
        assertThat(ann.viv("fork", thread + "@mark", byName)).isZero();
        assertThat(content(byId)).isEqualTo("before\n");
        assertThat(content(byName)).isEqualTo("before\n");
    }

    @Test
    void forkIntoAThreadWithASandboxFails() {
        assertThat(ann.viv("fork", thread, thread)).isEqualTo(ExitCode.CONFLICT);
        assertThat(ann.err()).contains("choose another thread").contains("viv threads");
        assertThat(ann.viv("snapshot", "ls", thread, "-q")).isZero();
        assertThat(ann.out()).isEmpty();
    }

    @Test
    void usageErrorsAndMissingSnapshotsHaveDifferentExitCodes() {
        assertThat(ann.viv("snapshot")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("take, ls, rm or restore");
        assertThat(ann.viv("snapshot", "rm", "nonsense")).isEqualTo(ExitCode.USAGE);
        assertThat(ann.err()).contains("THREAD@NAME");
        assertThat(ann.viv("snapshot", "rm", thread + "@none")).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("snapshot", "none-" + thread)).isEqualTo(ExitCode.NOT_FOUND);
        assertThat(ann.viv("fork", "none-" + thread, "x")).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void restoreAsksForConfirmationOnATerminal() {
        String id = take();
        ann.viv("exec", thread, "--", "echo after > file");
        ann.at(INTERACTIVE).types("n\n");
        assertThat(ann.viv("snapshot", "restore", id)).isEqualTo(ExitCode.FAILURE);
        assertThat(ann.err()).contains("[y/N]");
        assertThat(content(thread)).isEqualTo("after\n");
        assertThat(ann.viv("snapshot", "restore", id, "--yes")).isZero();
        assertThat(ann.types("y\n").viv("snapshot", "restore", id)).isZero();
        assertThat(content(thread)).isEqualTo("before\n");
    }

    private String take(String... options) {
        var line = new ArrayList<>(List.of("snapshot", thread));
        line.addAll(List.of(options));
        assertThat(ann.viv(line.toArray(String[]::new))).as(ann.err()).isZero();
        return ann.out().strip();
    }

    private String content(String owner) {
        assertThat(ann.viv("cat", owner + ":file")).as(ann.err()).isZero();
        return ann.out();
    }
}
