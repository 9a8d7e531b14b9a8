package dev.vivarium.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.TaskConstraints;
import dev.vivarium.model.ToolCall;
import dev.vivarium.model.ToolResult;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StepJsonTest {
    private static final StepJson CODEC = new StepJson();

    @Test
    void callsOfBothRuntimesAreRead() {
        assertThat(CODEC.call("""
                        {"tool_use_id":"a","tool_name":"Bash","tool_input":{"command":"ls"},"shell_command":"ls"}"""))
                .contains(new ToolCall(
                        "a", "Bash", "{\"command\":\"ls\"}", Optional.of("ls"), Optional.empty(), Optional.empty()));
        assertThat(CODEC.call("""
                        {"tool_use_id":"b","tool_name":"file_editor","tool_input":{"command":"view","path":"/a"}}"""))
                .get()
                .extracting(ToolCall::path, ToolCall::command)
                .containsExactly(Optional.of("/a"), Optional.empty());
        assertThat(CODEC.call("""
                        {"tool_use_id":"c","tool_name":"WebFetch","tool_input":{"url":"https://example.com"}}""")).get().extracting(ToolCall::url).isEqualTo(Optional.of("https://example.com"));
    }

    @Test
    void aResultFailsByItsFlagOrByItsExitCode() {
        assertThat(CODEC.result("{\"tool_use_id\":\"a\",\"content\":\"x\",\"is_error\":true}"))
                .contains(new ToolResult("a", true, "x"));
        assertThat(CODEC.result("{\"tool_use_id\":\"a\",\"exit_code\":3,\"output\":\"y\",\"content\":\"x\"}"))
                .contains(new ToolResult("a", true, "y"));
        assertThat(CODEC.result(
                        "{\"tool_use_id\":\"a\",\"exit_code\":0,\"content\":[{\"type\":\"text\",\"text\":\"z\"}]}"))
                .contains(new ToolResult("a", false, "z"));
    }

    @Test
    void textsOfOtherShapesAreIgnored() {
        for (String data : List.of("", "[]", "{", "{}", "{\"tool_name\":5,\"tool_use_id\":[]}")) {
            assertThat(CODEC.call(data)).isEmpty();
            assertThat(CODEC.result(data)).isEmpty();
            assertThat(CODEC.problem(data)).isEmpty();
            assertThat(CODEC.repository(data)).isEmpty();
            assertThat(CODEC.constraints(data)).isEqualTo(TaskConstraints.NONE);
        }
    }

    @Test
    void constraintsAndRepositoriesAreRead() {
        assertThat(CODEC.constraints("{\"allowed_paths\":[\"src\"],\"allowed_hosts\":[],\"time_limit_minutes\":1.5}"))
                .isEqualTo(new TaskConstraints(
                        Optional.empty(),
                        Optional.of(List.of("src")),
                        Optional.of(List.of()),
                        Optional.of(Duration.ofSeconds(90))));
        assertThat(CODEC.repository("{\"repository\":\"https://a\"}")).contains("https://a");
        assertThat(CODEC.repository("{\"repository\":{\"url\":\"https://b\"}}")).contains("https://b");
    }
}
