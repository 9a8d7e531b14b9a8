package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TranscriptsTest {
    /// Agent that appends a turn to its transcript, publishes the session and prints the number of turns.
    private static final String AGENT = "dir=\"$WORKER_STATE_DIR/command\"; mkdir -p \"$dir/deep\";"
            + " echo 'turn of a conversation' >> \"$dir/deep/one.jsonl\";"
            + " echo '{\"type\":\"event\",\"event_type\":\"agent.transcript\",\"data\":{\"session_id\":\"one\"}}';"
            + " echo \"turns=$(grep -c turn \"$dir/deep/one.jsonl\") resumed=$RESUME_SESSION\"";

    private static TestServer server;

    @BeforeAll
    static void start() {
        server = TestServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void conversationResumesAfterItsSandboxIsDeleted() {
        var first = AgentRun.of(server, AGENT);
        first.awaitStatus("completed");
        assertThat(first.run().string("session")).isEqualTo("one");
        server.api().method("DELETE", first.path());

        var second = AgentRun.of(server, AGENT, "\"resume_from\":\"" + first.id() + "\"");
        second.awaitStatus("completed");

        assertThat(second.id()).isNotEqualTo(first.id());
        assertThat(second.events("agent.output")).contains("turns=2 resumed=one");
        var third = AgentRun.of(server, AGENT, "\"resume_from\":\"" + second.id() + "\"");
        third.awaitStatus("completed");
        assertThat(third.events("agent.output")).contains("turns=3 resumed=one");
    }

    @Test
    void conversationSurvivesTheDeletionOfARunningSandbox() {
        var first = AgentRun.of(server, AGENT + "; exec sleep 1000");
        first.awaitEvent("agent.output");
        server.api().method("DELETE", first.path());
        first.awaitStatus("terminated");

        var second = AgentRun.of(server, AGENT, "\"resume_from\":\"" + first.id() + "\"");
        second.awaitStatus("completed");
        assertThat(second.events("agent.output")).contains("turns=2 resumed=one");
    }

    @Test
    void transcriptCopyIsBoundedForAnyFileNamesAndSizes() throws IOException {
        String writeOddFiles = "dir=\"$WORKER_STATE_DIR/command\"; mkdir -p \"$dir/a b\"; cd \"$dir\";"
                + " printf odd > \"$(printf 'a b/c%%20\\n..')\"; printf odd > \"$(printf '\\377')\"; printf odd > -rf;"
                + " ln -s /etc/passwd link; truncate -s 1T sparse; truncate -s 60M one; truncate -s 60M two; ";
        var first = AgentRun.of(server, writeOddFiles + AGENT);
        first.awaitStatus("completed");

        Path copy = server.home().resolve("transcripts").resolve(first.id());
        try (var files = Files.list(copy)) {
            var found = files.toList();
            assertThat(found.stream().mapToLong(file -> file.toFile().length()).sum())
                    .isBetween(60L << 20, 65L << 20);
            assertThat(found).allMatch(file -> file.getFileName().toString().matches("index|[0-9a-f]{64}"));
        }
        var second = AgentRun.of(
                server,
                "cd \"$WORKER_STATE_DIR/command\"; ls -R; cat a*/* -- -rf; " + AGENT,
                "\"resume_from\":\"" + first.id() + "\"");
        second.awaitStatus("completed");
        assertThat(second.events("agent.output")).contains("oddodd").doesNotContain("sparse", "root:");
    }

    @Test
    void onlyOwnEndedConversationsCanResume() {
        var done = AgentRun.of(server, AGENT);
        done.awaitStatus("completed");
        var running = AgentRun.of(server, AGENT + "; exec sleep 1000");
        var silent = AgentRun.of(server, "true");
        silent.awaitStatus("completed");
        var api = server.api();

        assertThat(resume(api.as("stranger"), done.id()).status()).isEqualTo(404);
        var unknown = resume(api, "sbxaaaaaaaaaaaaaaaaaaaa");
        assertThat(unknown.status()).isEqualTo(404);
        assertThat(unknown.json().string("detail")).startsWith("resume_from").contains("sbxaaaaaaaaaaaaaaaaaaaa");
        assertThat(resume(api, running.id()).status()).isEqualTo(409);
        assertThat(resume(api, silent.id()).json().string("detail")).contains("no stored transcript");
        var other = api.post(
                AgentRun.SANDBOXES,
                "{\"task\":{\"title\":\"x\"},\"runtime\":\"claude\",\"resume_from\":\"" + done.id() + "\"}");
        assertThat(other.status()).isEqualTo(422);
        assertThat(other.json().string("field")).isEqualTo("resume_from");
    }

    @Test
    void incompleteTranscriptCannotResume() throws IOException {
        var done = AgentRun.of(server, AGENT);
        done.awaitStatus("completed");
        Path copy = server.home().resolve("transcripts").resolve(done.id());
        try (var files = Files.list(copy)) {
            for (Path file : files.filter(file -> !file.endsWith("index")).toList()) {
                Files.delete(file);
            }
        }

        var rejected = resume(server.api(), done.id());
        assertThat(rejected.status()).isEqualTo(409);
        assertThat(rejected.json().string("detail")).contains("no stored transcript");
    }

    private static Api.Answer resume(Api api, String sandbox) {
        return api.post(AgentRun.SANDBOXES, AgentRun.body("true", "\"resume_from\":\"" + sandbox + "\""));
    }
}
