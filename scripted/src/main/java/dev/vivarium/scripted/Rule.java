package dev.vivarium.scripted;

import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/// Condition of a step on the input of the model since its last answer. Immutable.
record Rule(List<String> contains, List<String> lacks, List<Pattern> matches) {
    private static final Set<String> FIELDS = Set.of("contains", "lacks", "matches");

    static Rule read(Node node, String where) {
        Script.refuseOthers(node, FIELDS, where);
        return new Rule(
                texts(node.get("contains")),
                texts(node.get("lacks")),
                texts(node.get("matches")).stream()
                        .map(regex -> Pattern.compile(regex, Pattern.DOTALL))
                        .toList());
    }

    boolean holds(String news) {
        Predicate<String> said = news::contains;
        return contains.stream().allMatch(said)
                && lacks.stream().noneMatch(said)
                && matches.stream().allMatch(pattern -> pattern.matcher(news).find());
    }

    /// Reads one text or a list of texts.
    private static List<String> texts(Node node) {
        return node.string()
                .map(List::of)
                .orElseGet(() -> node.items().stream().map(Node::text).toList());
    }
}
