package dev.vivarium.scripted;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// One answer of the script. Immutable.
///
/// @param times how often it can be played; 0 means always
/// @param delay before the first byte, and between the pieces of a streamed answer
/// @param held whether it waits before the first byte until the test releases it
record Step(
        String name,
        Rule rule,
        int times,
        String thinking,
        String text,
        List<Call> calls,
        Optional<Usage> usage,
        Duration delay,
        boolean held,
        Optional<Fault> fault) {
    private static final Set<String> FIELDS =
            Set.of("name", "when", "times", "thinking", "text", "tools", "usage", "delay_ms", "held", "fault");

    /// Tool call of the model.
    record Call(String tool, Node input) {}

    /// Token usage that the answer reports.
    record Usage(long input, long output, long cacheRead, long cacheWrite) {}

    static Step read(Node node, String where) {
        Script.refuseOthers(node, FIELDS, where);
        return new Step(
                node.get("name").string().orElse(where),
                Rule.read(node.get("when"), where + ".when"),
                node.get("times").integer().orElse(1L).intValue(),
                node.get("thinking").text(),
                node.get("text").text(),
                calls(node.get("tools"), where + ".tools"),
                node.get("usage").isPresent() ? Optional.of(usage(node.get("usage"))) : Optional.empty(),
                Duration.ofMillis(node.get("delay_ms").integer().orElse(0L)),
                node.get("held").isTrue(),
                node.get("fault").isPresent()
                        ? Optional.of(Fault.read(node.get("fault"), where + ".fault"))
                        : Optional.empty());
    }

    /// Reports whether this step answers the request: its rule matches, and the agent offers its tools.
    boolean answers(Question question) {
        return rule.holds(question.news())
                && calls.stream().allMatch(call -> question.tools().contains(call.tool()));
    }

    /// Returns the usage of the script, or an estimate of the tokens.
    Usage usageFor(Question question) {
        int said = thinking.length() + text.length();
        for (Call call : calls) {
            said += call.input().json().length();
        }
        long output = Math.max(1, said / 4);
        return usage.orElse(new Usage(Math.max(1, question.length() / 4), output, 0, 0));
    }

    private static List<Call> calls(Node node, String where) {
        var calls = new ArrayList<Call>();
        for (Node call : node.items()) {
            Script.refuseOthers(call, Set.of("name", "input"), where);
            String tool = call.get("name").text();
            if (tool.isEmpty()) {
                throw new IllegalArgumentException(where + " has a call without a name");
            }
            Node input = call.get("input");
            calls.add(new Call(tool, input.isObject() ? input : Node.parse("{}")));
        }
        return List.copyOf(calls);
    }

    private static Usage usage(Node node) {
        return new Usage(
                node.get("input_tokens").integer().orElse(0L),
                node.get("output_tokens").integer().orElse(0L),
                node.get("cache_read_tokens").integer().orElse(0L),
                node.get("cache_write_tokens").integer().orElse(0L));
    }
}
