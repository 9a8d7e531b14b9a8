package dev.vivarium.bench;

import dev.vivarium.bench.Report.Row;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.CRC32;

/// Transfer of 1 GiB from a program in a sandbox through its preview. The heap of the server is a quarter of that.
final class PreviewHeap implements Measurement {
    private static final long SIZE = 1L << 30;
    private static final int BLOCK = 1 << 20;
    private static final int PORT = 8080;

    /// Sends the same block repeatedly, so that the reader can verify the content.
    private static final String PROGRAM = """
            from http.server import BaseHTTPRequestHandler, HTTPServer
            class Large(BaseHTTPRequestHandler):
                def do_GET(self):
                    block = bytes(range(256)) * (%d // 256)
                    self.send_response(200)
                    self.send_header("Content-Length", str(%d))
                    self.end_headers()
                    for _ in range(%d // len(block)):
                        self.wfile.write(block)
            HTTPServer(("127.0.0.1", %d), Large).serve_forever()
            """.formatted(BLOCK, SIZE, SIZE, PORT);

    @Override
    public void run(Bench bench, Report report) {
        try (var server = bench.startServer(Map.of("POOL_SIZE", "0", "VIV_JAVA_OPTS", "-Xmx256m"));
                var http = server.connect()) {
            String session = VivServer.create(http, "preview-heap");
            VivServer.upload(http, session, "large.py", PROGRAM.getBytes(StandardCharsets.UTF_8));
            VivServer.execute(http, session, "nohup python3 large.py > /dev/null 2>&1 &");
            VivServer.execute(
                    http, session, "until 2> /dev/null < /dev/tcp/127.0.0.1/" + PORT + "; do sleep 0.05; done");
            Quiet.await();
            var wanted = new Http.Received(SIZE, crc());
            var samples = new Samples();
            boolean same = true;
            String path = "/sandboxes/" + session + "/ports/" + PORT + "/";
            for (int round = 0; round < bench.rounds(3); round++) {
                long start = System.nanoTime();
                same &= http.receive("GET", path, "text/plain").equals(wanted);
                samples.add(System.nanoTime() - start);
            }
            report.add(Row.of("1 GB through a preview, -Xmx256m", samples).held("same bytes", same));
            report.add(Row.of(
                    "the server's memory at its peak meanwhile", "MiB", Processes.peakKib(server.pid()) / 1024.0));
        }
    }

    private static long crc() {
        byte[] block = new byte[BLOCK];
        for (int i = 0; i < block.length; i++) {
            block[i] = (byte) i;
        }
        var sum = new CRC32();
        for (long sent = 0; sent < SIZE; sent += block.length) {
            sum.update(block);
        }
        return sum.getValue();
    }
}
