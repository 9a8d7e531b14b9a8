package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.provider.FileTrees;
import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Server killed while an agent works. Needs root.
@Tag("root")
@Timeout(240)
class KilledAgentTest {
    private RealAgents agents;
    private Path home;

    @BeforeEach
    void prepare() throws IOException {
        agents = new RealAgents();
        home = Files.createTempDirectory("viv-").toRealPath();
        RealAgents.provideImage(home);
    }

    @AfterEach
    void clear() throws IOException {
        ServerProcess.purge(home);
        FileTrees.delete(home);
        agents.close();
    }

    /// Creates a file in the sandbox without a server.
    private void touchInside(String sandbox, String file) throws Exception {
        String init = Files.readString(home.resolve("run").resolve(sandbox).resolve("pid"))
                .strip();
        var touch = new ProcessBuilder("nsenter", "--target", init, "--user", "--mount", "--root", "touch", file)
                .redirectErrorStream(true)
                .start();
        String output = new String(touch.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(touch.waitFor()).as(output).isZero();
    }

    @Test
    void agentSurvivesAServerKillWithoutLosingEvents() throws Exception {
        agents.play(
                Step.saying("First.").when("Work").running("claude", "echo one; until [ -e go ]; do sleep 0.05; done"),
                Step.saying("Second.").when("one").running("claude", "echo two > two.txt"),
                Step.saying("Third."));
        RealAgentRun agent;
        long before;
        try (var first = ServerProcess.start(home, agents.arguments("--pool-size", "0"))) {
            agent = RealAgentRun.spawn(first.api(), "claude", "Work", "");
            agent.awaitEvent("agent.tool_use");
            before = agent.types().size();
        }
        touchInside(agent.sandbox(), "/workspace/go");
        try (var second = ServerProcess.start(home, agents.arguments("--pool-size", "0"))) {
            agent = agent.through(second.api());
            agent.awaitEnd("completed");
            assertThat(agent.shell("cat two.txt")).isEqualTo("two\n");
            assertThat(agent.types()).hasSizeGreaterThan((int) before).containsOnlyOnce("agent.completed");
            assertThat(agent.events("agent.message"))
                    .extracting(event -> event.object("event_data").string("text"))
                    .containsExactly("First.", "Second.", "Third.");
            assertThat(agent.events(""))
                    .extracting(event -> event.integer("seq"))
                    .doesNotHaveDuplicates();
        }
    }
}
