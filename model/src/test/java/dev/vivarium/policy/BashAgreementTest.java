package dev.vivarium.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.policy.CommandPolicy.Mode;
import dev.vivarium.policy.Token.Word;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs lines that the parser accepts in a real bash, and compares the executed commands with the parsed ones. Every
/// allowed name is a script that logs its arguments, and every builtin is disabled.
@Timeout(300)
class BashAgreementTest {
    private static final String END_OF_ARGUMENT = "\u001f";
    private static final String END_OF_COMMAND = "\u001e";
    private static final int LINES = 400;

    private static final CommandPolicy POLICY = CommandPolicy.of(Mode.ALLOWLIST)
            .withAllowedCommands(LineGenerator.COMMANDS)
            .withDeniedPatterns(List.of());

    @TempDir
    Path directory;

    @BeforeEach
    void writeTools() throws IOException {
        Path tools = Files.createDirectory(directory.resolve("tools"));
        for (String name : LineGenerator.COMMANDS) {
            script(tools.resolve(name), "printf '%s\\037' \"${0##*/}\" \"$@\" '\036' >> \"$LOG\"\n");
        }
        script(directory.resolve("stranger"), "printf '%s\\037' STRANGER \"$1\" '\036' >> \"$LOG\"\n");
        Files.writeString(
                directory.resolve("environment"),
                "command_not_found_handle() { \"$STRANGER\" \"$1\"; }\nenable -n $(compgen -b)\n");
        Files.writeString(directory.resolve("driver"), """
                export STRANGER="$1/stranger" BASH_ENV="$1/environment"
                n=0
                while IFS= read -r -d '' line; do
                  cd "$1/$n"
                  LOG="$1/$n.log" PATH="$1/tools" "$BASH" -c "$line" </dev/null >/dev/null 2>"$1/$n.err"
                  n=$((n + 1))
                done <"$1/lines"
                """);
    }

    @Test
    void bashRunsExactlyTheParsedCommands() throws Exception {
        List<String> lines = acceptedLines(7);
        assertThat(lines).hasSize(LINES);
        runInBash(lines);
        for (int i = 0; i < lines.size(); i++) {
            assertAgreement(lines.get(i), ran(i), Files.readString(directory.resolve(i + ".err")));
        }
    }

    /// Checks the setup: it logs the commands of lines outside the policy.
    @Test
    void setupLogsUnknownCommandsAndBuiltins() throws Exception {
        runInBash(List.of("ls a; id", "eval ls", "echo $(ls x)"));
        assertThat(ran(0)).containsExactly(List.of("ls", "a"), List.of("STRANGER", "id"));
        assertThat(ran(1)).containsExactly(List.of("STRANGER", "eval"));
        assertThat(ran(2)).containsExactly(List.of("ls", "x"), List.of("echo"));
    }

    private static List<String> acceptedLines(long seed) {
        var generator = new LineGenerator(seed);
        return Stream.generate(generator::next)
                .limit(LINES * 40L)
                .filter(line -> POLICY.check(line).isAllowed())
                .distinct()
                .limit(LINES)
                .toList();
    }

    private static void assertAgreement(String line, List<List<String>> ran, String errors) {
        List<List<String>> read = ShellParser.commands(line).stream()
                .map(command -> Stream.concat(Stream.of(command.word()), command.arguments().stream())
                        .map(Word::text)
                        .toList())
                .collect(Collectors.toCollection(ArrayList::new));
        assertThat(errors).as("errors of bash for <%s>", line).doesNotContain("syntax error", "unexpected");
        if (errors.isEmpty() && !line.contains("||")) {
            assertThat(ran).as("ran for <%s>", line).containsExactlyInAnyOrderElementsOf(read);
        } else {
            assertThat(read).as("read of <%s>", line).containsAll(ran);
        }
    }

    private void runInBash(List<String> lines) throws Exception {
        Files.writeString(directory.resolve("lines"), String.join("\0", lines) + "\0", UTF_8);
        for (int i = 0; i < lines.size(); i++) {
            Files.writeString(
                    Files.createDirectory(directory.resolve(Integer.toString(i)))
                            .resolve("in.txt"),
                    "");
        }
        var builder = new ProcessBuilder(
                        "bash", "--norc", directory.resolve("driver").toString(), directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("driver.out").toFile());
        builder.environment().put("LC_ALL", "C.UTF-8");
        Process bash = builder.start();
        bash.getOutputStream().close();
        try {
            assertThat(bash.waitFor(280, TimeUnit.SECONDS)).isTrue();
            assertThat(bash.exitValue()).isZero();
        } finally {
            bash.destroyForcibly();
        }
    }

    private List<List<String>> ran(int line) throws IOException {
        Path log = directory.resolve(line + ".log");
        if (!Files.exists(log)) {
            return List.of();
        }
        return Stream.of(Files.readString(log).split(END_OF_COMMAND + END_OF_ARGUMENT))
                .map(command ->
                        List.of(command.substring(0, command.length() - 1).split(END_OF_ARGUMENT, -1)))
                .toList();
    }

    private static void script(Path path, String text) throws IOException {
        Files.writeString(path, "#!/bin/sh\n" + text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
    }
}
