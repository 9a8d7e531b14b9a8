package dev.vivarium.core.guard.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessTableTest {
    private static final String OUTPUT = """
            7
            1 (systemd) S 0 1 1\tep_poll
            7 (guest) S 1 7 7\tep_poll
            9 (python (x) 3) T 7 9 9\tdo_signal_stop
            10 (sh) S 9 9 9\tdo_wait
            11 (sleep) S 10 9 9\thrtimer_nanosleep
            12 (sh) R 7 12 12\t0
            nonsense
            """;

    @Test
    void onlyTheGuestAndItsDescendantsAreKept() {
        var table = ProcessTable.parse(OUTPUT);

        assertThat(table.rows()).extracting(ProcessTable.Row::pid).containsExactly(7, 9, 10, 11, 12);
    }

    @Test
    void aProcessHasAStateAWaitChannelAndDescendants() {
        var table = ProcessTable.parse(OUTPUT);
        var worker = table.find(9).orElseThrow();

        assertThat(worker.name()).isEqualTo("python (x) 3");
        assertThat(ProcessTable.word(worker.state())).isEqualTo("stopped");
        assertThat(worker.channel()).isEqualTo("do_signal_stop");
        assertThat(table.descendants(9)).containsExactlyInAnyOrder(10, 11);
        assertThat(table.text()).contains("9\t7\tT stopped\tdo_signal_stop\tpython (x) 3");
    }

    @Test
    void outputThatIsNoTableGivesAnEmptyOne() {
        assertThat(ProcessTable.parse("").rows()).isEmpty();
        assertThat(ProcessTable.parse("sh: not found\n").rows()).isEmpty();
    }
}
