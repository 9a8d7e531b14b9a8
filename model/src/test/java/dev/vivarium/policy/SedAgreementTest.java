package dev.vivarium.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Runs scripts that the parser accepts in GNU sed with `--sandbox`, which refuses commands that run programs or write
/// files.
@Timeout(300)
class SedAgreementTest {
    private static final int SCRIPTS = 500;
    private static final String SANDBOX_COMPLAINT = "disabled in sandbox mode";

    private static final List<String> PIECES = List.of(
            "s/a/b/",
            "s,a,b,",
            "s/[a]/b/",
            "s/[/]/b/",
            "s/\\//b/",
            "y/ab/ba/",
            "p",
            "d",
            "1",
            "$",
            "/a/",
            "\\,a,",
            "!",
            "{",
            "}",
            ";",
            "\n",
            " ",
            "e",
            "w f",
            "e id",
            "w",
            "W",
            "g",
            "I",
            "2",
            "#",
            "a x",
            "i\\",
            "c",
            ":a",
            "ba",
            "t",
            "q5",
            "l",
            "\\",
            "/",
            "[",
            "]",
            "[^]]",
            "[[:alpha:]]",
            "~",
            "+",
            ",",
            "n",
            "N;",
            "=",
            "r f",
            "M",
            "0",
            "\\n");

    @TempDir
    Path directory;

    @Test
    void acceptedScriptsNeitherRunProgramsNorWriteFiles() throws Exception {
        List<String> accepted =
                scripts(11).filter(SedAgreementTest::isAccepted).limit(SCRIPTS).toList();
        assertThat(accepted).hasSize(SCRIPTS);
        assertThat(sandboxComplaints(accepted)).isEmpty();
    }

    /// Checks the oracle: sed refuses the scripts that the parser refuses.
    @Test
    void sedRefusesWhatTheParserRefuses() throws Exception {
        List<String> bad = List.of("e id", "s/a/b/e", "s/a/b/ e", "w f", "1{e id\n}", "s/[/]/x/e;s/]/y/");
        assertThat(bad).noneMatch(SedAgreementTest::isAccepted);
        assertThat(sandboxComplaints(bad)).hasSize(bad.size());
    }

    private static Stream<String> scripts(long seed) {
        var random = new Random(seed);
        return Stream.generate(() -> {
                    var script = new StringBuilder();
                    int pieces = 1 + random.nextInt(7);
                    for (int i = 0; i < pieces; i++) {
                        script.append(PIECES.get(random.nextInt(PIECES.size())));
                    }
                    return script.toString();
                })
                .limit(SCRIPTS * 200L)
                .distinct();
    }

    private static boolean isAccepted(String script) {
        try {
            SedScript.check(script);
            return true;
        } catch (NotUnderstood _) {
            return false;
        }
    }

    private List<String> sandboxComplaints(List<String> scripts) throws Exception {
        Path list = directory.resolve("scripts");
        Path output = directory.resolve("output");
        Files.writeString(list, String.join("\0", scripts) + "\0", UTF_8);
        String loop = "while IFS= read -r -d '' s; do sed --sandbox -n \"$s\" /dev/null; done";
        Process bash = new ProcessBuilder("bash", "-c", loop)
                .directory(directory.toFile())
                .redirectInput(list.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(bash.waitFor(280, TimeUnit.SECONDS)).isTrue();
        } finally {
            bash.destroyForcibly();
        }
        return Files.readAllLines(output, UTF_8).stream()
                .filter(line -> line.contains(SANDBOX_COMPLAINT))
                .toList();
    }
}
