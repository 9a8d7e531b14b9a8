package dev.vivarium.core.shell;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.exec.Execution;
import dev.vivarium.core.exec.SignalTarget;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Command;
import dev.vivarium.model.ExecEvent;
import dev.vivarium.model.Exit;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class TerminalTest {
    private static final int SIGKILL = 9;

    private static RealGuest real;

    @BeforeAll
    static void start() {
        real = RealGuest.start();
    }

    @AfterAll
    static void stop() {
        real.close();
    }

    @Test
    void programSeesATerminalOfTheGivenSize() {
        try (Execution terminal = open(Command.shell("tty -s && echo yes; stty size; echo $TERM"))) {
            assertThat(screenUntil(terminal, "xterm-256color")).contains("yes").contains("30 100");
        }
    }

    @Test
    void inputIsEchoedAndRun() {
        try (Execution terminal = open(Command.of("bash", "--norc"))) {
            type(terminal, "echo $((6 * 7))\n");
            assertThat(screenUntil(terminal, "42")).contains("echo $((6 * 7))");
        }
    }

    @Test
    void resizeReachesTheProgram() {
        try (Execution terminal = open(Command.of("bash", "--norc"))) {
            terminal.resize(132, 43);
            type(terminal, "stty size\n");
            screenUntil(terminal, "43 132");
        }
    }

    @Test
    void controlCSendsAnInterrupt() {
        try (Execution terminal =
                open(Command.shell("trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"))) {
            screenUntil(terminal, "ready");
            type(terminal, "\u0003");
            screenUntil(terminal, "caught");
            assertThat(exit(terminal).code()).isEqualTo(5);
        }
    }

    @Test
    void killedProgramEndsTheTerminal() {
        try (Execution terminal = open(Command.of("cat"))) {
            terminal.signal(SIGKILL, SignalTarget.TREE);
            assertThat(exit(terminal).cause()).isEqualTo(Exit.Cause.SIGNALLED);
        }
    }

    private static Execution open(Command command) {
        return Execution.startOnKeptTerminal(real.guest(), Shells.interactive(command), "terminal", 100, 30);
    }

    private static void type(Execution terminal, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        terminal.write(bytes, 0, bytes.length);
    }

    private static String screenUntil(Execution terminal, String wanted) {
        var screen = new StringBuilder();
        while (screen.indexOf(wanted) < 0) {
            ExecEvent event = terminal.next();
            assertThat(event.isLast()).as("screen: %s", screen).isFalse();
            if (event instanceof ExecEvent.Output output) {
                screen.append(new String(output.bytes(), StandardCharsets.UTF_8));
            }
        }
        return screen.toString();
    }

    private static Exit exit(Execution terminal) {
        while (true) {
            if (terminal.next() instanceof ExecEvent.Exited(Exit exit)) {
                return exit;
            }
        }
    }
}
