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

/// `viv` in its own process on its own terminal, which `script` of util-linux creates. The shell prints the terminal
/// settings after `viv` exits. Thread-safe.
final class Pty implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

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
            // The process has exited.
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

    /// Waits until the terminal shows this, and returns the text of the first group, if any.
    String await(String regex) {
        Pattern pattern = Pattern.compile(regex, Pattern.DOTALL);
        try {
            Awaitility.await(regex)
                    .atMost(TIMEOUT)
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

    /// Device of the terminal. Other programs change its size by this name.
    String device() {
        return await("on=(/dev/[^=]+)=");
    }

    /// Waits for `viv` to exit with the terminal settings restored, and returns its exit code.
    int end() {
        int code = Integer.parseInt(await("code=(\\d+)=.* icanon.* echo "));
        return code;
    }

    /// Terminates `viv` alone with a signal.
    void terminateViv() {
        process.descendants()
                .filter(descendant -> descendant
                        .info()
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
