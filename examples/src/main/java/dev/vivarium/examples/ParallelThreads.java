package dev.vivarium.examples;

import dev.vivarium.sdk.Sandbox;
import dev.vivarium.sdk.SandboxClient;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Concurrent conversations on one client, each with its own sandbox. Arguments as for [Hello]. Stateless.
public final class ParallelThreads {
    private static final int CONVERSATIONS = 6;

    private ParallelThreads() {}

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        try (SandboxClient client =
                        args.length == 2 ? SandboxClient.remote(URI.create(args[0]), args[1]) : SandboxClient.local();
                var workers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> answers = new ArrayList<>();
            for (int i = 0; i < CONVERSATIONS; i++) {
                String thread = "parallel-" + i;
                answers.add(workers.submit(() -> converse(client, thread)));
            }
            for (Future<String> answer : answers) {
                System.out.println(answer.get());
            }
        }
    }

    /// Uses the same file name in every conversation. No conversation sees another's file.
    private static String converse(SandboxClient client, String thread) {
        Sandbox box = client.sandbox("alice", thread);
        box.execute("echo 'notes of " + thread + "' > notes.txt");
        String notes = box.execute("cat notes.txt").stdout().strip();
        box.end();
        return notes;
    }
}
