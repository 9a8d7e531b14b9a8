package dev.vivarium.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(300)
class CompletionTest {
    private final Completion completion = Completion.of(new Commands(new Terminal(
                    InputStream.nullInputStream(),
                    new PrintStream(PrintStream.nullOutputStream()),
                    new PrintStream(PrintStream.nullOutputStream()),
                    Map.of(),
                    Terminal.Ttys.NONE))
            .line("", ""));

    @TempDir
    private Path scratch;

    @Test
    void bashCompletesCommandsAndTheirOptions() throws Exception {
        assertThat(completed("viv", "ex")).containsExactly("exec");
        assertThat(completed("viv", "keys", "")).contains("issue", "list", "revoke");
        assertThat(completed("viv", "keys", "list", "--js")).containsExactly("--json");
        assertThat(completed("viv", "exec", "thread", "--timeo")).containsExactly("--timeout");
        assertThat(completed("viv", "snapshot", "re")).containsExactly("restore");
        assertThat(completed("viv", "ser")).containsExactly("serve");
    }

    @Test
    void bashCompletesThreadsAndValuesOfOptions() throws Exception {
        assertThat(completed("viv", "exec", "al")).containsExactly("alpha");
        assertThat(completed("viv", "snapshot", "ls", "b")).containsExactly("beta");
        assertThat(completed("viv", "share", "alpha", "ben", "--scope", "fs")).containsExactly("fs:ro", "fs:rw");
        assertThat(completed("viv", "runs", "--status", "co")).containsExactly("completed");
        assertThat(completed("viv", "health", "al")).isEqualTo(List.of(""));
    }

    @Test
    void bashCompletesTasksAndTheirOptions() throws Exception {
        assertThat(completed("viv", "task", "")).contains("add", "apply", "ls", "show", "graph", "cancel", "retry");
        assertThat(completed("viv", "task", "show", "be")).containsExactly("beta");
        assertThat(completed("viv", "task", "add", "title", "--after", "al")).containsExactly("alpha");
        assertThat(completed("viv", "task", "ls", "--status", "re")).containsExactly("ready", "retrying");
        assertThat(completed("viv", "task", "add", "--priority", "h")).containsExactly("high");
        assertThat(completed("viv", "task", "cancel", "alpha", "--dependents", "c"))
                .containsExactly("cancel");
        assertThat(completed("viv", "events", "alpha", "--after", "al")).doesNotContain("beta");
    }

    @Test
    void everyScriptContainsThreadsAndValuesOfOptions() {
        for (Completion.Shell shell : Completion.Shell.values()) {
            assertThat(completion.script(shell)).contains("viv threads -q", "viv task ls -q", "fs:ro fs:rw shell");
        }
    }

    @Test
    void everyScriptContainsEveryCommand() {
        for (Completion.Shell shell : Completion.Shell.values()) {
            String script = completion.script(shell);
            completion.words().keySet().forEach(path -> {
                String name = path.substring(path.lastIndexOf(' ') + 1);
                assertThat(script).contains(name);
            });
        }
    }

    private List<String> completed(String... words) throws Exception {
        Path script = Files.writeString(scratch.resolve("viv.bash"), completion.script(Completion.Shell.BASH));
        String ask = "viv() { printf 'alpha\\nbeta\\n'; }; source " + script
                + "; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _viv;" + " printf '%s\\n' \"${COMPREPLY[@]}\"";
        var command = new java.util.ArrayList<>(List.of("bash", "-c", ask, "bash"));
        command.addAll(List.of(words));
        Process bash = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
    }
}
