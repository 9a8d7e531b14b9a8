package dev.vivarium.core.shell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.exec.OutputListener;
import dev.vivarium.core.exec.Signal;
import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.core.shell.Participant.Role;
import dev.vivarium.model.Command;
import dev.vivarium.model.Exit;
import dev.vivarium.model.Failure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.UserId;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class ShellTest {
    private RealGuest real;
    private Shells shells;

    @BeforeEach
    void start() {
        real = RealGuest.start();
        shells = newShells();
    }

    @AfterEach
    void stop() {
        real.close();
    }

    @Test
    void twoTypistsShareOneShell() {
        Shell shell = open("while read line; do echo \"<$line>\"; done");
        try (Viewer ann = join(shell, "ann", Role.TYPIST);
                Viewer bob = join(shell, "bob", Role.TYPIST)) {
            ann.type("from ann\n");
            assertThat(until(bob, "<from ann>")).contains("from ann\r\n");
            bob.type("from bob\n");
            until(ann, "<from bob>");
        }
    }

    @Test
    void watcherCannotTypeSignalOrResize() {
        Shell shell = open("echo hello; sleep 1000");
        try (Viewer viewer = join(shell, "eve", Role.WATCHER)) {
            until(viewer, "hello");
            assertNotAllowed(() -> viewer.type("rm -rf /\n"));
            assertNotAllowed(() -> viewer.signal(Signal.KILL));
            viewer.resize(new TerminalSize(10, 10));
            assertThat(shell.size()).isEqualTo(TerminalSize.USUAL);
        }
    }

    @Test
    void viewersReceivePresenceUpdates() {
        Shell shell = open("sleep 1000");
        try (Viewer ann = join(shell, "ann", Role.TYPIST)) {
            assertThat(presence(ann)).containsExactly("ann TYPIST");
            Viewer bob = join(shell, "bob", Role.WATCHER);
            assertThat(presence(ann)).containsExactly("ann TYPIST", "bob WATCHER");
            bob.close();
            assertThat(presence(ann)).containsExactly("ann TYPIST");
            assertThat(bob.next()).isInstanceOf(ShellEvent.Left.class);
        }
        assertThat(shell.people()).isEmpty();
    }

    @Test
    void lateViewerSeesTheScrollbackAndTheExit() {
        Shell shell = open("echo the end; exit 3");
        await().until(() -> !shell.isOpen());
        try (Viewer viewer = join(shell, "ann", Role.TYPIST)) {
            until(viewer, "the end");
            assertThat(exit(viewer).code()).isEqualTo(3);
            assertThat(viewer.next()).isInstanceOf(ShellEvent.Left.class);
        }
        assertThat(shell.exit()).map(Exit::code).hasValue(3);
    }

    @Test
    void terminalHasTheSizeOfTheLastTypist() {
        Shell shell = open("while read line; do stty size; done");
        try (Viewer ann = join(shell, "ann", Role.TYPIST);
                Viewer bob = join(shell, "bob", Role.TYPIST)) {
            ann.resize(new TerminalSize(100, 30));
            bob.resize(new TerminalSize(120, 40));
            ann.type("\n");
            until(ann, "30 100");
            bob.type("\n");
            until(ann, "40 120");
        }
    }

    @Test
    void splitCharactersStayWholeAndInvalidBytesAreReplaced() {
        Shell shell = open(
                "stty -echo -opost; echo ready; read x; printf '\\360\\237'; read x; printf '\\230\\200|\\377|\\303'");
        try (Viewer viewer = join(shell, "ann", Role.TYPIST)) {
            until(viewer, "ready\n");
            viewer.type("\n");
            viewer.type("\n");
            assertThat(untilExit(viewer)).isEqualTo("😀|\uFFFD|\uFFFD");
        }
    }

    @Test
    void slowViewerMissesOutputWithoutBlockingOthers() {
        Shell shell = open("stty -opost -echo; echo ready; read go; seq 200000");
        try (Viewer slow = join(shell, "slow", Role.WATCHER);
                Viewer fast = join(shell, "fast", Role.TYPIST)) {
            until(slow, "ready\n");
            until(fast, "ready\n");
            fast.type("\n");
            assertThat(untilExit(fast)).isEqualTo(numbers(200_000));
            assertThat(slow.next())
                    .isInstanceOfSatisfying(
                            ShellEvent.Missed.class,
                            missed -> assertThat(missed.bytes() + Scrollback.CAPACITY)
                                    .isEqualTo(numbers(200_000).length()));
            assertThat(numbers(200_000)).endsWith(untilExit(slow));
        }
    }

    @Test
    void lateViewerReceivesNoOldTerminalQueries() {
        Shell shell = open(
                "stty -echo; echo ready; read go; printf 'a\\033[6nb\\n'; read go; printf 'c\\033[6nd\\n'; read go");
        try (Viewer early = join(shell, "early", Role.TYPIST)) {
            until(early, "ready\r\n");
            early.type("\n");
            assertThat(until(early, "b\r\n")).isEqualTo("a\u001b[6nb\r\n");
            try (Viewer late = join(shell, "late", Role.WATCHER)) {
                assertThat(until(late, "b\r\n")).isEqualTo("ready\r\nab\r\n");
                early.type("\n");
                assertThat(until(late, "d\r\n")).isEqualTo("c\u001b[6nd\r\n");
            }
        }
    }

    @Test
    void twentyViewersReceiveTheWholeOutput() throws Exception {
        // A long timeout, so that a slow machine does not make viewers count as absent.
        shells =
                new Shells(new SecureRandom(), InstantSource.system(), _ -> OutputListener.NONE, Duration.ofMinutes(2));
        Shell shell = open("stty -opost -echo; echo ready; read go; seq 500000");
        try (Viewer typist = join(shell, "typist", Role.TYPIST);
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            until(typist, "ready\n");
            var seen = new ArrayList<Future<String>>();
            for (int i = 0; i < 20; i++) {
                Viewer viewer = join(shell, "viewer-" + i, Role.WATCHER);
                until(viewer, "ready\n");
                seen.add(workers.submit(() -> untilExit(viewer)));
            }
            typist.type("\n");
            assertThat(untilExit(typist)).isEqualTo(numbers(500_000));
            for (var screen : seen) {
                assertThat(screen.get()).isEqualTo(numbers(500_000));
            }
        }
    }

    @Test
    void processBlocksWhileTheTypistDoesNotRead() {
        Shell shell = open("stty -opost; seq 500000; touch done");
        try (Viewer viewer = join(shell, "ann", Role.TYPIST)) {
            viewer.next();
            await().during(Duration.ofMillis(300))
                    .until(() -> !Files.exists(real.workspace().resolve("done")));
            assertThat(untilExit(viewer)).isEqualTo(numbers(500_000));
        }
    }

    @Test
    void watcherDoesNotBlockTheProcess() {
        Shell shell = open("seq 500000; exit 7");
        try (Viewer watcher = join(shell, "eve", Role.WATCHER)) {
            watcher.next();
            await().until(() -> shell.exit().isPresent());
        }
        assertThat(shell.exit()).map(Exit::code).hasValue(7);
    }

    @Test
    void shellRunsWithoutViewers() {
        Shell shell = open("seq 500000; exit 7");
        await().until(() -> shell.exit().isPresent());
        assertThat(shell.exit()).map(Exit::code).hasValue(7);
    }

    @Test
    void reconnectLosesAndRepeatsNoOutput() {
        Shell shell = open("stty -opost -echo; seq 30000; read x; echo \"<$x>\"");
        try (Viewer viewer = join(shell, "ann", Role.TYPIST)) {
            viewer.next();
            viewer.next();
            real.guest().close();
            shells.reattachTo(real.accept());
            String seen = until(viewer, "\n30000\n");
            viewer.type("after\n");
            assertThat(numbers(30_000) + "<after>\n").endsWith(seen + untilExit(viewer));
        }
    }

    @Test
    void nextServerAdoptsTheShellWithItsScrollback() {
        Shell shell = open("echo before; while read line; do echo \"<$line>\"; done");
        try (Viewer viewer = join(shell, "ann", Role.TYPIST)) {
            until(viewer, "before");
        }
        real.guest().close();
        Shells others = newShells();
        others.reattachTo(real.accept());
        try (Viewer viewer = join(others.require(shell.id()), "bob", Role.TYPIST)) {
            until(viewer, "before");
            viewer.type("still there\n");
            until(viewer, "<still there>");
        }
        assertThat(others.newest()).map(Shell::id).hasValue(shell.id());
    }

    @Test
    void requireWaitsForAShellThatIsBeingAdopted() throws Exception {
        Shell shell = open("sleep 1000");
        real.guest().close();
        Shells others = newShells();
        others.expectReattach();
        try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Shell> early = callers.submit(() -> others.require(shell.id()));
            others.reattachTo(real.accept());
            assertThat(early.get().id()).isEqualTo(shell.id());
        }
    }

    @Test
    void shellMissingOnTheNextGuestIsGone() {
        Shell shell = open("sleep 1000");
        try (Viewer viewer = join(shell, "ann", Role.TYPIST);
                var other = RealGuest.start()) {
            viewer.next();
            real.guest().close();
            shells.reattachTo(other.guest());
            assertThat(viewer.next()).isInstanceOf(ShellEvent.Gone.class);
        }
    }

    private Shell open(String script) {
        return shells.open(real.guest(), Command.of("bash", "--norc", "-c", script), TerminalSize.USUAL);
    }

    private static Shells newShells() {
        return new Shells(new SecureRandom(), InstantSource.system(), _ -> OutputListener.NONE);
    }

    private static Viewer join(Shell shell, String user, Role role) {
        return shell.join(new Participant(new UserId(user), role, Instant.EPOCH));
    }

    private static java.util.List<String> presence(Viewer viewer) {
        ShellEvent event = viewer.next();
        assertThat(event).isInstanceOf(ShellEvent.Presence.class);
        return ((ShellEvent.Presence) event)
                .people().stream()
                        .map(who -> who.user().value() + " " + who.role())
                        .toList();
    }

    private static String until(Viewer viewer, String wanted) {
        var screen = new StringBuilder();
        while (screen.indexOf(wanted) < 0) {
            switch (viewer.next()) {
                case ShellEvent.Output(String text) -> screen.append(text);
                case ShellEvent.Presence _, ShellEvent.Resized _ -> {}
                case ShellEvent other -> throw new AssertionError(other + " after: " + screen);
            }
        }
        return screen.toString();
    }

    private static String untilExit(Viewer viewer) {
        var screen = new StringBuilder();
        while (true) {
            switch (viewer.next()) {
                case ShellEvent.Output(String text) -> screen.append(text);
                case ShellEvent.Presence _, ShellEvent.Resized _ -> {}
                case ShellEvent.Exited _ -> {
                    return screen.toString();
                }
                case ShellEvent other -> throw new AssertionError(other + " after: " + screen);
            }
        }
    }

    private static Exit exit(Viewer viewer) {
        while (true) {
            if (viewer.next() instanceof ShellEvent.Exited(Exit exit)) {
                return exit;
            }
        }
    }

    private static String numbers(int last) {
        var text = new StringBuilder();
        for (int i = 1; i <= last; i++) {
            text.append(i).append('\n');
        }
        return text.toString();
    }

    private static void assertNotAllowed(org.assertj.core.api.ThrowableAssert.ThrowingCallable action) {
        assertThatThrownBy(action)
                .isInstanceOfSatisfying(
                        SandboxException.class, e -> assertThat(e.failure()).isInstanceOf(Failure.NotAllowed.class));
    }
}
