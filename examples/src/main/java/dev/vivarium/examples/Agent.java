package dev.vivarium.examples;

import dev.vivarium.sdk.SandboxClient;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/// Loop of an agent around [BashTool]. Arguments as for [Hello]. Stateless.
///
/// The model is a script, so that the example needs no account. Replace it with a call to your model.
public final class Agent {
    private static final int MAX_TURNS = 20;

    private Agent() {}

    /// One turn of a model.
    sealed interface Turn {
        record Call(String command) implements Turn {}

        record Answer(String text) implements Turn {}
    }

    /// Model: returns the next turn of a conversation.
    interface Model {
        Turn next(List<String> conversation);
    }

    public static void main(String[] args) {
        try (SandboxClient client =
                args.length == 2 ? SandboxClient.remote(URI.create(args[0]), args[1]) : SandboxClient.local()) {
            var tool = new BashTool(client.sandbox("alice", "agent"));
            System.out.println(run(new ScriptedModel(), tool, "How many prime numbers are below 100?"));
            client.find("agent").orElseThrow().end();
        }
    }

    static String run(Model model, BashTool tool, String task) {
        List<String> conversation = new ArrayList<>(List.of(task));
        for (int turn = 0; turn < MAX_TURNS; turn++) {
            switch (model.next(conversation)) {
                case Turn.Answer(String text) -> {
                    return text;
                }
                case Turn.Call(String command) -> {
                    System.out.println("$ " + command);
                    String result = tool.run(command);
                    System.out.print(result);
                    conversation.add(result);
                }
            }
        }
        return "I did not finish within " + MAX_TURNS + " turns.";
    }

    /// Model that makes a mistake, reads the error and corrects itself.
    private static final class ScriptedModel implements Model {
        private static final String SIEVE = """
                cat > primes.awk <<'END'
                BEGIN { for (n = 2; n < 100; n++) { prime = 1
                  for (d = 2; d * d <= n; d++) if (n % d == 0) { prime = 0; break }
                  if (prime) print n } }
                END
                """;

        @Override
        public Turn next(List<String> conversation) {
            String last = conversation.getLast();
            return switch (conversation.size()) {
                case 1 -> new Turn.Call("awk -f primes.awk | wc -l");
                case 2 -> new Turn.Call(SIEVE); // The file did not exist; stderr shows it.
                case 3 -> new Turn.Call("awk -f primes.awk | wc -l");
                default -> new Turn.Answer("There are " + last.replaceAll("(?s).*<stdout>\\s*(\\d+).*", "$1") + ".");
            };
        }
    }
}
