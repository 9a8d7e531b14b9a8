package dev.vivarium.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/// The hosts outside that a sandbox may reach: none, unless it is told. Immutable.
public record Egress(List<HostRule> allow) {
    /// How many rules there may be.
    public static final int MOST_RULES = 200;

    /// No host at all.
    public static final Egress NONE = new Egress(List.of());

    public Egress {
        allow = List.copyOf(allow);
    }

    /// Reads a list of rules; throws `InvalidRequest` on `field` with the one that is wrong.
    public static Egress of(String field, Collection<String> texts) {
        if (texts.size() > MOST_RULES) {
            throw invalid(field, "must hold at most " + MOST_RULES + " hosts");
        }
        var rules = new LinkedHashSet<HostRule>();
        for (String text : texts) {
            try {
                rules.add(HostRule.of(text));
            } catch (IllegalArgumentException e) {
                throw invalid(field, "cannot take '" + shortened(text) + "': it " + e.getMessage());
            }
        }
        return new Egress(new ArrayList<>(rules));
    }

    public boolean isEmpty() {
        return allow.isEmpty();
    }

    /// Reports whether a program inside may connect to this port of this host, by its name alone.
    public boolean allows(HostName host, int port) {
        return allow.stream().anyMatch(rule -> rule.allows(host, port));
    }

    /// The first rule that asks for more than `most` allows.
    public Optional<HostRule> findBeyond(Egress most) {
        return allow.stream()
                .filter(rule -> most.allow.stream().noneMatch(larger -> larger.covers(rule)))
                .findFirst();
    }

    /// The rules as they are written.
    public List<String> texts() {
        return allow.stream().map(HostRule::toString).toList();
    }

    private static SandboxException invalid(String field, String rule) {
        return new SandboxException(new Failure.InvalidRequest(field, rule));
    }

    private static String shortened(String text) {
        String plain = text.replaceAll("[^\\x21-\\x7e]", "?");
        return plain.length() <= 80 ? plain : plain.substring(0, 80) + "…";
    }
}
