package dev.vivarium.examples;

import dev.vivarium.model.FileEntry;
import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/// Data pipeline: upload, commands that share files, and download. Arguments as for [Hello]. Stateless.
public final class DataPipeline {
    private static final String ORDERS = """
            id,customer,amount
            1,ann,150
            2,ben,40
            3,ann,200
            4,cy,75
            """;

    private DataPipeline() {}

    public static void main(String[] args) throws IOException {
        try (SandboxClient client =
                args.length == 2 ? SandboxClient.remote(URI.create(args[0]), args[1]) : SandboxClient.local()) {
            Sandbox box = client.sandbox("alice", "pipeline");
            box.upload("in/orders.csv", new ByteArrayInputStream(ORDERS.getBytes(StandardCharsets.UTF_8)));

            box.execute("tail -n +2 in/orders.csv | sort -t, -k2,2 > sorted.csv");
            box.execute("""
                    mkdir -p out
                    awk -F, '{ sum[$2] += $3 } END { for (c in sum) print c "," sum[c] }' sorted.csv | sort > out/totals.csv
                    """);

            Path file = Files.createTempFile("totals", ".csv");
            try {
                box.download("out/totals.csv", file);
                System.out.print(Files.readString(file));
            } finally {
                Files.delete(file);
            }
            for (FileEntry entry : box.list().entries()) {
                System.out.println(entry.permissions() + " " + entry.name());
            }
            box.end();
        }
    }
}
