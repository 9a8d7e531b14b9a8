package dev.vivarium.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.json.Json;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import dev.vivarium.sdk.engine.LocalConfig;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class BashToolTest {
    private static SandboxClient client;

    @BeforeAll
    static void open() {
        client = SandboxClient.local(LocalConfig.withoutIsolation());
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Test
    void definitionIsValidJson() {
        var definition = Json.answer(BashTool.DEFINITION);

        assertThat(definition.string("name")).isEqualTo("bash");
        assertThat(definition
                        .object("input_schema")
                        .object("properties")
                        .object("command")
                        .string("type"))
                .isEqualTo("string");
    }

    @Test
    void resultContainsExitCodeAndOutput() {
        assertThat(tool("told").run("echo out; echo err >&2; exit 3"))
                .isEqualTo("exit code 3\n<stdout>\nout\n</stdout>\n<stderr>\nerr\n</stderr>\n");
    }

    @Test
    void timeoutIsExplained() {
        assertThat(tool("limit").run("echo begun; sleep 305", Duration.ofSeconds(1)))
                .startsWith("Stopped after 1 s")
                .contains("nohup")
                .contains("begun");
    }

    @Test
    void longOutputIsTruncatedInTheMiddle() {
        String text = tool("long").run("echo first; seq 1 20000; echo last");

        assertThat(text).contains("first").contains("last").contains("characters left out");
        assertThat(text.length()).isLessThan(9_000);
    }

    @Test
    void truncationKeepsCharactersWhole() {
        String cut = BashTool.cut("x" + "\uD83D\uDE00".repeat(10_000));

        assertThat(cut.codePoints()).noneMatch(c -> Character.getType(c) == Character.SURROGATE);
    }

    @Test
    void lostFilesAreMentionedOnce() {
        Sandbox box = client.sandbox("alice", "lost");
        var tool = new BashTool(box);
        client.find("lost").orElseThrow().end();

        assertThat(tool.run("true")).startsWith("Note: the sandbox had expired");
        assertThat(tool.run("true")).isEqualTo("exit code 0\n");
    }

    @Test
    void failureIsReportedAsASentence() {
        Sandbox box = client.sandbox("alice", "ended");
        box.end();

        assertThat(new BashTool(box).run("true")).startsWith("The command gave no result: Invalid or expired session");
    }

    private static BashTool tool(String thread) {
        return new BashTool(client.sandbox("alice", thread));
    }
}
