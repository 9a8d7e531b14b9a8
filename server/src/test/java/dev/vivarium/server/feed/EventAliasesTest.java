package dev.vivarium.server.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Event;
import dev.vivarium.model.SandboxId;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventAliasesTest {
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '\'',
            value = {
                "SANDBOX_SPAWNED, sandbox.started, {}, true",
                "SANDBOX_AGENT_STARTED, agent.started, {}, true",
                "SANDBOX_AGENT_TOOL_USE, agent.tool_use, {}, true",
                "SANDBOX_PAUSED, sandbox.paused, {}, true",
                "SANDBOX_MESSAGE_QUEUED, user.interrupt, {}, true",
                "TASK_COMPLETED, sandbox.run_ended, '{\"status\":\"completed\"}', true",
                "TASK_COMPLETED, sandbox.run_ended, '{\"status\":\"failed\"}', false",
                "TASK_FAILED, sandbox.run_ended, '{\"status\":\"failed\"}', true",
                "TASK_COMPLETED, task.completed, '{\"status\":\"completed\"}', true",
                "TASK_CREATED, task.pending, {}, true",
                "SANDBOX_TERMINATED_IDLE, sandbox.terminated_idle, {}, true",
                "SANDBOX_TERMINATED_IDLE, sandbox.terminated, {}, false",
                "SANDBOX_TERMINATED, sandbox.terminated, '{\"reason\":\"user\"}', true",
                "agent.started, agent.started, {}, false",
                "SANDBOX_AGENT_STARTED, agent.stopped, {}, false",
            })
    void busNameMeansTheEvent(String name, String type, String data, boolean expected) {
        var event = new Event(
                new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa"),
                1,
                "e",
                type,
                data,
                "sandbox",
                Instant.EPOCH,
                Optional.empty());

        assertThat(EventAliases.matches(name, event)).isEqualTo(expected);
    }
}
