package dev.vivarium.cli;

import dev.vivarium.sdk.Shell;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/// `viv` as a person runs it: in a process of its own, on a terminal of its own, which util-linux's `script` makes.
/// What the terminal is like afterwards is printed behind it. Thread-safe.
final class Pty implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Process process;
    private final Thread reader;
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();

    Pty(Map<String, String> env, String... args) {
        var java = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dviv.tty=012",
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        java.addAll(List.of(args));
        String line = "stty rows 40 cols 100; echo on=$(tty)=; " + Shell.quote(java) + "; echo code=$?=; stty -a";
        var builder = new ProcessBuilder("script", "--quiet", "--flush", "--return", "--command", line, "/dev/null")
                .redirectErrorStream(true);
        builder.environment().putAll(env);
        builder.environment().put("TERM", "xterm");
        try {
            process = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        reader = Thread.ofVirtual().name("pty").start(this::read);
    }

    private void read() {
        var piece = new byte[4096];
        try (var in = process.getInputStream()) {
            for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
                synchronized (seen) {
                    seen.write(piece, 0, count);
                }
            }
        } catch (IOException _) {
            // It is over.
        }
    }

    String seen() {
        synchronized (seen) {
            return seen.toString(StandardCharsets.UTF_8);
        }
    }

    void type(String keys) {
        try {
            process.getOutputStream().write(keys.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Waits until the terminal has shown this, and returns what was captured by the first group, if any.
    String await(String regex) {
        Pattern pattern = Pattern.compile(regex, Pattern.DOTALL);
        try {
            Awaitility.await(regex)
                    .atMost(PATIENCE)
                    .until(() -> pattern.matcher(seen()).find() || !reader.isAlive());
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(regex + " was not seen in:\n" + seen(), e);
        }
        if (!pattern.matcher(seen()).find()) {
            throw new AssertionError("ended without " + regex + ":\n" + seen());
        }
        Matcher matcher = pattern.matcher(seen());
        return matcher.find() && matcher.groupCount() > 0 ? matcher.group(1) : "";
    }

    /// The terminal's name, by which others can change its size.
    String device() {
        return await("on=(/dev/[^=]+)=");
    }

    /// The exit code of `viv`, once its terminal is again as it was: lines are edited and echoed.
    int end() {
        int code = Integer.parseInt(await("code=(\\d+)=.* icanon.* echo "));
        return code;
    }

    /// Ends `viv`, and nothing around it, by a signal.
    void terminateViv() {
        process.descendants()
                .filter(one -> one.info()
                        .command()
                        .filter(name -> name.endsWith("/java"))
                        .isPresent())
                .forEach(ProcessHandle::destroy);
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
