package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.run.Money;
import dev.vivarium.json.EventBodyJson;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonFields;
import dev.vivarium.json.StepJson;
import dev.vivarium.model.Event;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TextEnum;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Recorded events of one real run, with what a person knows about it. Immutable.
///
/// The recordings are lines of JSON: a line with the `name` begins a recording, the others are its events.
///
/// @param story   what the agent does
/// @param rules   rules that should find it; empty for a healthy run
record Recording(
        String name, boolean isHealthy, String story, List<String> rules, RunLimits runLimits, List<Event> events) {
    static final TaskId TASK = new TaskId("tskaaaaaaaaaaaaaaaaaaaa");
    private static final SandboxId SANDBOX = new SandboxId("sbxaaaaaaaaaaaaaaaaaaaa");
    private static final Instant START = Instant.parse("2026-01-01T10:00:00Z");

    /// Returns all recordings, the healthy ones first.
    static List<Recording> all() {
        var all = new ArrayList<Recording>();
        for (String file : List.of("healthy.jsonl", "ill.jsonl")) {
            for (String line : read(file).lines().toList()) {
                JsonFields fields = Json.answer(line);
                if (fields.has("name")) {
                    all.add(header(fields));
                } else {
                    all.getLast().events.add(event(fields));
                }
            }
        }
        return all;
    }

    private static String read(String file) {
        try (var stream = Recording.class.getResourceAsStream(file)) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Recording header(JsonFields fields) {
        var constraints =
                new StepJson().constraints(fields.object("constraints").text());
        var runLimits = new RunLimits(
                START,
                TextEnum.of(Run.Runtime.class, fields.string("runtime")),
                fields.optionalNumber("budget_usd").isPresent()
                        ? Optional.of(Money.nanos(BigDecimal.valueOf(fields.number("budget_usd"))))
                        : Optional.empty(),
                constraints.timeLimit(),
                constraints);
        return new Recording(
                fields.string("name"),
                fields.flag("healthy"),
                fields.string("story"),
                fields.optionalStrings("rules").orElse(List.of()),
                runLimits,
                new ArrayList<>());
    }

    private static Event event(JsonFields fields) {
        return new Event(
                SANDBOX,
                fields.integer("seq"),
                "e" + fields.integer("seq"),
                fields.string("type"),
                fields.object("data").text(),
                fields.string("source"),
                START.plusMillis(fields.integer("ms")),
                fields.string("type").startsWith("agent.") ? Optional.of(TASK) : Optional.empty());
    }

    List<Step> steps() {
        var steps = new Steps(new EventBodyJson(), new StepJson());
        return events.stream()
                .flatMap(event -> steps.of(event, TASK, runLimits.runtime()).stream())
                .toList();
    }

    Duration length() {
        return Duration.between(START, events.getLast().at());
    }

    @Override
    public String toString() {
        return name;
    }
}
