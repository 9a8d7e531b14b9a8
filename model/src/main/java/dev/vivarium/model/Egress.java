package dev.vivarium.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/// Egress allow-list of a sandbox. Immutable.
public record Egress(List<HostRule> allow) {
    public static final int MAX_RULES = 200;

    public static final Egress NONE = new Egress(List.of());

    public Egress {
        allow = List.copyOf(allow);
    }

    /// Parses a list of rules. Throws `InvalidRequest` on `field` with the invalid rule.
    public static Egress of(String field, Collection<String> texts) {
        Failure.InvalidRequest.require(texts.size() <= MAX_RULES, field, "must hold at most " + MAX_RULES + " hosts");
        var rules = new LinkedHashSet<HostRule>();
        for (String text : texts) {
            try {
                rules.add(HostRule.of(text));
            } catch (IllegalArgumentException e) {
                throw SandboxException.invalid(field, "cannot take '" + shortened(text) + "': it " + e.getMessage());
            }
        }
        return new Egress(new ArrayList<>(rules));
    }

    public boolean isEmpty() {
        return allow.isEmpty();
    }

    /// Reports whether a program inside may connect to this port of this host. Checks the name only, not its
    /// addresses.
    public boolean allows(HostName host, int port) {
        return allow.stream().anyMatch(rule -> rule.allows(host, port));
    }

    /// Returns the first rule that exceeds `max`.
    public Optional<HostRule> findBeyond(Egress max) {
        return allow.stream()
                .filter(rule -> max.allow.stream().noneMatch(larger -> larger.covers(rule)))
                .findFirst();
    }

    /// Returns the rules in their text form.
    public List<String> texts() {
        return allow.stream().map(HostRule::toString).toList();
    }

    private static String shortened(String text) {
        String plain = text.replaceAll("[^\\x21-\\x7e]", "?");
        return plain.length() <= 80 ? plain : plain.substring(0, 80) + "…";
    }
}
