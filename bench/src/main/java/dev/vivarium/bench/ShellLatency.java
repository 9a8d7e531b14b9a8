package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.util.Map;
import java.util.function.IntConsumer;

/// Latency from a keystroke to its echo, on a bare terminal and through a shell's WebSocket, in alternation.
///
/// Both run `cat`, so that the measurement covers the transport and not the program.
final class ShellLatency implements Measurement {
    private static final String ECHO = "stty raw -echo; echo ready; exec cat";

    /// Number of keystrokes until the server's JVM has compiled the measured code. A server runs for weeks, so its
    /// first seconds are not representative.
    private static final int WARM_UP = 15_000;

    private static final int TIMES_BARE = 5;
    private static final double MAX_MILLIS = 1000;
    private static final String THREAD = "/threads/shell-latency/sandbox";

    @Override
    public void run(Bench bench, Report report) {
        var bare = new Samples();
        var shell = new Samples();
        var revoked = new Samples();
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0"));
                var connection = server.connect();
                var terminal = BarePty.start("/bin/sh", "-c", ECHO);
                var socket = ShellConnection.open(
                        server.port(), server.key(), VivServer.create(connection, "shell-latency"), ECHO)) {
            terminal.await("ready\n".length());
            Quiet.await();
            IntConsumer round = _ -> {
                bare.time(() -> terminal.echo("x"));
                shell.time(() -> socket.echo("x"));
            };
            Samples.alternate(WARM_UP, bench.rounds(5000), round, bare, shell);
            for (int i = 0; i < bench.rounds(50); i++) {
                measureRevocation(server, connection, revoked);
            }
        }
        report.add(Row.of("token revoked -> its shell is closed", revoked)
                .held("p99 at most 1,000 ms", revoked.p99() <= MAX_MILLIS));
        String rule = "p99 at most %d x the bare p99, which is %s ms".formatted(TIMES_BARE, Report.number(bare.p99()));
        report.add(Row.of("keystroke to echo, shell", shell)
                .besideBare(bare.p50())
                .held(rule, shell.p99() <= TIMES_BARE * bare.p99()));
    }

    private static void measureRevocation(VivServer server, Http connection, Samples revoked) {
        var pass = connection.post(THREAD, "{\"scopes\":[\"shell\"]}").expect(200);
        try (var socket = ShellConnection.open(
                server.port(), pass.member("token"), pass.member("sandbox_id"), "echo ready; exec sleep 1000")) {
            revoked.time(() -> {
                connection
                        .post(THREAD + "/revoke", "{\"jti\":\"" + pass.member("jti") + "\"}")
                        .expect(200);
                socket.awaitClose();
            });
        }
    }
}
