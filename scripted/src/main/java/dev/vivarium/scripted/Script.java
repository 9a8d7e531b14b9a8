package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// What the model says, and when: steps, each of which answers a question that its rule fits:
///
/// ```json
/// {"steps": [
///    {"when": {"contains": "hello.txt"}, "text": "I write it.",
///     "tools": [{"name": "Bash", "input": {"command": "echo hi > hello.txt"}}],
///     "usage": {"input_tokens": 1000, "output_tokens": 50}},
///    {"when": {"matches": "use the (other|new) API"}, "text": "I use the other one."},
///    {"fault": {"kind": "status", "status": 529, "retry_after": 1}},
///    {"text": "Done."}],
///  "otherwise": {"text": "I have nothing more to say."}}
/// ```
///
/// The first step that fits and is not used up is played; each once, unless it says how many `times`. A step whose
/// tools the agent does not offer never fits; one that is `held` is answered when the model is told to release it.
/// Immutable; how often a step has been played is counted by who plays it.
public final class Script {
    private static final Set<String> FIELDS = Set.of("steps", "otherwise");

    private final List<Step> steps;
    private final Step otherwise;

    private Script(List<Step> steps, Step otherwise) {
        this.steps = List.copyOf(steps);
        this.otherwise = otherwise;
    }

    /// Reads a script; a mistake in it is an [IllegalArgumentException] that says where.
    public static Script parse(String json) {
        Node node;
        try {
            node = Node.parse(json);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the script " + e.getMessage(), e);
        }
        refuseOthers(node, FIELDS, "script");
        var steps = new ArrayList<Step>();
        for (Node step : node.get("steps").items()) {
            steps.add(Step.read(step, "steps[" + steps.size() + "]"));
        }
        Node otherwise = node.get("otherwise");
        return new Script(
                steps, Step.read(otherwise.isPresent() ? otherwise : Node.parse("{\"text\": \"Done.\"}"), "otherwise"));
    }

    List<Step> steps() {
        return steps;
    }

    /// The answer when no step is left that fits.
    Step otherwise() {
        return otherwise;
    }

    /// A misspelt rule must not be one that always holds.
    static void refuseOthers(Node node, Set<String> known, String where) {
        if (node.isPresent() && !node.isObject()) {
            throw new IllegalArgumentException(where + " must be an object");
        }
        for (String name : node.names()) {
            if (!known.contains(name)) {
                throw new IllegalArgumentException(where + " has no field '" + name + "'; it has " + known);
            }
        }
    }
}
