package dev.vivarium.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.testing.RealAgents.RealAgentRun;
import dev.vivarium.testing.RealAgents.Step;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClaudeAgentTest extends RealAgentContract {
    ClaudeAgentTest() {
        super("claude");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"kind\":\"garbage\"}", "{\"kind\":\"close\"}", "{\"kind\":\"status\",\"status\":529}"})
    void failingModelFailsTheRunWithAReason(String fault) {
        agents.play(new Step("\"fault\":" + fault).always());
        var failed = spawn("Speak", ONE_RETRY).awaitEnd("failed");

        assertThat(failed.string("reason")).containsAnyOf("529", "502", "model", "API Error", "overloaded");
    }

    @Test
    void missingAgentProgramFailsTheRunWithItsError() {
        var agent = RealAgentRun.spawn(api, "command", "Try", "\"command\":[\"/opt/vivarium/none\"]");

        assertThat(agent.awaitEnd("failed").string("reason"))
                .contains("/opt/vivarium/none could not be started: No such file or directory");
    }
}
