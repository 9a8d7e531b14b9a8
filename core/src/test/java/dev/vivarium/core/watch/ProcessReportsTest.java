package dev.vivarium.core.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.model.Exit;
import dev.vivarium.model.ProcessEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessReportsTest {
    private final AtomicLong nanos = new AtomicLong();
    private final List<ProcessEvent> published = new ArrayList<>();
    private final ProcessReports reports = new ProcessReports(published::add, nanos::get);

    @Test
    void reportsArePublishedInOrderAfterTheDelay() {
        var start = new ProcessEvent.Started(7, "make");
        var end = new ProcessEvent.Completed(7, Exit.Cause.EXITED, 0, Duration.ofMillis(1));
        reports.add(start);
        reports.add(end);
        reports.publishDue();
        assertThat(published).isEmpty();

        pass();
        assertThat(published).containsExactly(start, end);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "echo 'it is' done",
                "/bin/bash -c -l source /tmp/snapshot.sh && eval 'echo '\\''it is'\\'' done' < /dev/null && pwd",
                "bash -c eval \"echo 'it is' done\""
            })
    void theProcessOfAToolCommandHasNoEvents(String line) {
        // The worker reports its command a moment after the kernel.
        reports.add(new ProcessEvent.Started(7, line));
        reports.addToolCommand("echo 'it is' done");
        reports.add(new ProcessEvent.Completed(7, Exit.Cause.EXITED, 0, Duration.ZERO));
        pass();

        assertThat(published).isEmpty();
    }

    @Test
    void aToolCommandHidesOneProcess() {
        reports.addToolCommand("ls");
        reports.add(new ProcessEvent.Started(7, "ls"));
        reports.add(new ProcessEvent.Started(8, "ls"));
        reports.add(new ProcessEvent.Started(9, "false"));
        pass();

        assertThat(published).containsExactly(new ProcessEvent.Started(8, "ls"), new ProcessEvent.Started(9, "false"));
    }

    @Test
    void nothingIsPublishedAfterTheEndOfTheSandbox() {
        reports.add(new ProcessEvent.Folded(3));
        reports.close();
        reports.add(new ProcessEvent.Folded(4));
        pass();

        assertThat(published).isEmpty();
    }

    private void pass() {
        nanos.addAndGet(ProcessReports.DELAY.toNanos());
        reports.publishDue();
    }
}
