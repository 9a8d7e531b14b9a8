package dev.vivarium.examples;

import dev.vivarium.sdk.SandboxClient;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/// The loop of an agent around [BashTool]. The model here is a script, so that the example needs no account anywhere;
/// put a call to yours in its place. Arguments as for [Hello].
public final class Agent {
    private static final int MAX_TURNS = 20;

    private Agent() {}

    /// What a model does when it is its turn.
    sealed interface Turn {
        record Call(String command) implements Turn {}

        record Answer(String text) implements Turn {}
    }

    /// Anything that, given the conversation so far, takes the next turn.
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

    /// Plays a model that makes a mistake, reads the error and corrects itself.
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
                case 2 -> new Turn.Call(SIEVE); // The file was not there: it says so on stderr.
                case 3 -> new Turn.Call("awk -f primes.awk | wc -l");
                default -> new Turn.Answer("There are " + last.replaceAll("(?s).*<stdout>\\s*(\\d+).*", "$1") + ".");
            };
        }
    }
}
