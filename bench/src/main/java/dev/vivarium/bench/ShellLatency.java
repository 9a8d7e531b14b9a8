package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;

/// From a keystroke to its echo: on a bare terminal, and through a shell's WebSocket, taken in turns. On both ends of
/// both sits `cat`, so that what is measured is the way and not the program.
final class ShellLatency implements Measurement {
    private static final String ECHO = "stty raw -echo; echo ready; exec cat";

    /// Until the server's JVM has compiled what is measured: it is up for weeks, its first seconds are another
    /// story.
    private static final int WARM_UP = 15_000;

    private static final int TIMES_BARE = 5;

    @Override
    public void run(Bench bench, Report report) {
        var bare = new Samples();
        var shell = new Samples();
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var connection = server.connect();
                var terminal = BarePty.start("/bin/sh", "-c", ECHO);
                var socket = ShellConnection.open(
                        server.port(), server.key(), VivServer.create(connection, "shell-latency"), ECHO)) {
            terminal.await("ready\n".length());
            Quiet.await();
            for (int i = -WARM_UP; i < bench.rounds(5000); i++) {
                if (i == 0) {
                    bare.clear();
                    shell.clear();
                }
                bare.time(() -> terminal.echo("x"));
                shell.time(() -> socket.echo("x"));
            }
        }
        String rule = "p99 at most %d x the bare p99, which is %s ms".formatted(TIMES_BARE, Report.number(bare.p99()));
        report.add(Row.of("keystroke to echo, shell", shell)
                .besideBare(bare.p50())
                .held(rule, shell.p99() <= TIMES_BARE * bare.p99()));
    }
}
