package dev.vivarium.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.policy.CommandPolicy.Mode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs accepted lines with the real tools in a directory with a program that creates a file, and checks that nothing
/// changes.
@Timeout(300)
class ToolAgreementTest {
    private static final int LINES = 300;

    private static final CommandPolicy POLICY = CommandPolicy.of(Mode.ALLOWLIST).withDeniedPatterns(List.of());

    private static final Map<String, List<String>> ARGUMENTS = Map.of(
            "find",
            List.of(
                    ".",
                    "a",
                    "-name",
                    "'a*'",
                    "-type",
                    "f",
                    "-exec",
                    "-execdir",
                    "-ok",
                    "./mark",
                    "\\;",
                    "+",
                    "'{}'",
                    "!",
                    "-fprint",
                    "out",
                    "-fls",
                    "-print0",
                    "-o",
                    "\\(",
                    "\\)",
                    "-size",
                    "-1",
                    "-newermt",
                    "-delete",
                    "-ls"),
            "sort",
            List.of(
                    "a",
                    "b",
                    "-o",
                    "out",
                    "-oout",
                    "-ro",
                    "-k",
                    "-k2",
                    "-t",
                    "-t,",
                    "-u",
                    "--output=out",
                    "--out",
                    "--key",
                    "--compress-program=./mark",
                    "--compress",
                    "./mark",
                    "-S",
                    "1b",
                    "-S1b",
                    "--",
                    "-m",
                    "-",
                    "./a*",
                    "-n"),
            "uniq",
            List.of(
                    "a",
                    "b",
                    "out",
                    "-c",
                    "-f",
                    "1",
                    "-f1",
                    "-",
                    "--",
                    "--count",
                    "--skip-fields",
                    "-cd",
                    "./a*",
                    "-w"),
            "awk",
            List.of(
                    "a",
                    "b",
                    "-f",
                    "mark.awk",
                    "-fmark.awk",
                    "-F",
                    "-F,",
                    "-v",
                    "x=1",
                    "-vx=1",
                    "--",
                    "'{print}'",
                    "'BEGIN{system(\"./mark\")}'",
                    "'{print | \"./mark\"}'",
                    "'BEGIN{\"./mark\"|getline}'",
                    "'$1 || $2'",
                    "--file",
                    "--file=mark.awk",
                    "-e",
                    "-E",
                    "-W",
                    "exec",
                    "-",
                    "./mark*"));

    @TempDir
    Path directory;

    private Path work;

    @BeforeEach
    void createFiles() throws IOException {
        work = Files.createDirectory(directory.resolve("work"));
        Files.writeString(work.resolve("a"), "1,x\n2,y\n".repeat(500));
        Files.writeString(work.resolve("b"), "1,x\n");
        Files.writeString(work.resolve("mark.awk"), "BEGIN { system(\"./mark\") }\n");
        Path mark = Files.writeString(work.resolve("mark"), "#!/bin/sh\n: > marked\n");
        Files.setPosixFilePermissions(mark, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void acceptedLinesNeitherRunProgramsNorWriteFiles() throws Exception {
        List<String> lines = acceptedLines(5);
        assertThat(lines).hasSize(LINES);
        Map<String, String> before = files();
        run(lines);
        assertThat(files()).isEqualTo(before);
    }

    /// Checks the setup: refused lines do create files.
    @Test
    void refusedLinesCreateFiles() throws Exception {
        List<String> lines = List.of("sort -ro out a", "find b -exec ./mark \\;");
        assertThat(lines).noneMatch(line -> POLICY.check(line).isAllowed());
        run(lines);
        assertThat(files()).containsKeys("out", "marked");
    }

    private static List<String> acceptedLines(long seed) {
        var random = new Random(seed);
        var tools = List.copyOf(new TreeMap<>(ARGUMENTS).keySet());
        return Stream.generate(() -> line(random, tools.get(random.nextInt(tools.size()))))
                .limit(LINES * 100L)
                .filter(line -> POLICY.check(line).isAllowed())
                .distinct()
                .limit(LINES)
                .toList();
    }

    private static String line(Random random, String tool) {
        var words = new ArrayList<>(List.of(tool));
        List<String> choices = ARGUMENTS.get(tool);
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            words.add(choices.get(random.nextInt(choices.size())));
        }
        return String.join(" ", words);
    }

    private Map<String, String> files() throws IOException {
        var files = new TreeMap<String, String>();
        try (Stream<Path> paths = Files.list(work)) {
            for (Path path : paths.toList()) {
                files.put(path.getFileName().toString(), Files.readString(path));
            }
        }
        return files;
    }

    private void run(List<String> lines) throws Exception {
        Path list = Files.writeString(directory.resolve("lines"), String.join("\0", lines) + "\0", UTF_8);
        String loop = "while IFS= read -r -d '' line; do \"$BASH\" -c \"$line\" </dev/null; done; :";
        Process bash = new ProcessBuilder("bash", "-c", loop)
                .directory(work.toFile())
                .redirectInput(list.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            assertThat(bash.waitFor(280, TimeUnit.SECONDS)).isTrue();
        } finally {
            bash.destroyForcibly();
        }
    }
}
