package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Script of a model: steps, each of which answers the requests that its rule matches. Immutable.
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
/// The model plays the first step that matches and is not used up. Each step is played once, unless it sets `times`. A
/// step whose tools the agent does not offer never matches. A `held` step waits until the model releases it. The player
/// counts how often a step was played.
public final class Script {
    private static final Set<String> FIELDS = Set.of("steps", "otherwise");

    private final List<Step> steps;
    private final Step otherwise;

    private Script(List<Step> steps, Step otherwise) {
        this.steps = List.copyOf(steps);
        this.otherwise = otherwise;
    }

    /// Parses a script. Throws [IllegalArgumentException] with the position of an error.
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

    /// Returns the answer for requests that no step matches.
    Step otherwise() {
        return otherwise;
    }

    /// Refuses unknown fields, because a misspelt rule would otherwise always match.
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
