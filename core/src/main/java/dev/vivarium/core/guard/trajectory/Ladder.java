package dev.vivarium.core.guard.trajectory;

import dev.vivarium.core.guard.trajectory.Rung.Position;
import dev.vivarium.core.run.TextListColumn;
import dev.vivarium.model.GuardianEvent.Action;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.Review;
import dev.vivarium.model.TextEnum;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Actions of the guardian on one run so far, and the decision about the next one. Immutable.
///
/// | last action about the rule | the pattern goes on | the pattern ended |
/// |---|---|---|
/// | none | nudge; if the nudges are used up, pause and ask | – |
/// | nudge | pause and ask a person | outcome |
/// | a person decided to continue | policy `stop`: stop | outcome |
///
/// There is at most one action in each cooldown. Advice never leads to a pause.
///
/// @param acts   number of acts and events so far, for their ids
/// @param nudges number of messages so far
record Ladder(int acts, int nudges, List<Rung> rungs) {
    /// Rule of findings of the judge. A later judgement shows whether its pattern ended.
    static final String JUDGE = "judge";

    static final Ladder EMPTY = new Ladder(0, 0, List.of());

    Ladder {
        rungs = List.copyOf(rungs);
    }

    Optional<Rung> of(String rule) {
        return rungs.stream().filter(rung -> rung.rule().equals(rule)).findFirst();
    }

    /// Returns the rung whose review waits for an answer.
    Optional<Rung> asked() {
        return rungs.stream().filter(rung -> rung.position() == Position.ASKED).findFirst();
    }

    Ladder with(Rung rung) {
        var all = new ArrayList<>(rungs);
        all.removeIf(other -> other.rule().equals(rung.rule()));
        all.add(rung);
        return new Ladder(acts, nudges, all);
    }

    private Ladder counted(int moreNudges) {
        return new Ladder(acts + 1, nudges + moreNudges, rungs);
    }

    Decision decide(DecisionInput input, GuardianLimits limits) {
        if (input.policy() == GuardianPolicy.OFF || isStopped()) {
            return Decision.nothing(this);
        }
        Optional<Rung> asked = asked();
        if (asked.isPresent()) {
            return answered(asked.get(), input, limits);
        }
        if (isCoolingDown(input.now(), limits)) {
            return Decision.nothing(this);
        }
        for (Finding finding : input.findings()) {
            Decision next = next(finding, input, limits);
            if (!next.isNothing()) {
                return next;
            }
        }
        return ended(input);
    }

    private boolean isStopped() {
        return rungs.stream().anyMatch(rung -> rung.position() == Position.STOPPED);
    }

    private boolean isCoolingDown(Instant now, GuardianLimits limits) {
        return rungs.stream()
                .anyMatch(rung ->
                        (rung.position() != Position.ENDED || rung.rule().equals(JUDGE))
                                && now.isBefore(rung.at().plus(limits.cooldown())));
    }

    private Decision next(Finding finding, DecisionInput input, GuardianLimits limits) {
        Optional<Rung> rung = of(finding.rule());
        boolean isOld = rung.filter(known -> !known.isContinuedBy(finding)).isPresent();
        if (isOld) {
            return Decision.nothing(this);
        }
        if (input.policy() == GuardianPolicy.WATCH) {
            return observe(finding, input);
        }
        return switch (rung.map(Rung::position).orElse(Position.ENDED)) {
            case ENDED, OBSERVED -> begin(finding, input, limits);
            case NUDGED ->
                finding.severity() == Finding.Severity.SERIOUS
                        ? ask(finding, input).after(new Decision.Noted.Outcome(finding.pattern(), false))
                        : Decision.nothing(this);
            case CONTINUED ->
                input.policy() == GuardianPolicy.STOP
                        ? stop(Rung.of(finding, Position.STOPPED, input.now(), input.seq()), finding.summary())
                                .after(new Decision.Noted.Outcome(finding.pattern(), false))
                        : Decision.nothing(this);
            case ASKED, STOPPED -> Decision.nothing(this);
        };
    }

    private Decision begin(Finding finding, DecisionInput input, GuardianLimits limits) {
        if (nudges < limits.nudges()) {
            return nudge(finding, input);
        }
        return finding.severity() == Finding.Severity.SERIOUS ? ask(finding, input) : Decision.nothing(this);
    }

    private Decision observe(Finding finding, DecisionInput input) {
        var rung = Rung.of(finding, Position.OBSERVED, input.now(), input.seq());
        return new Decision(
                counted(0).with(rung),
                List.of(new Decision.Noted.Found(finding.pattern(), Action.NONE)),
                Optional.empty());
    }

    private Decision nudge(Finding finding, DecisionInput input) {
        Position position = finding.rule().equals(JUDGE) ? Position.ENDED : Position.NUDGED;
        var rung = Rung.of(finding, position, input.now(), input.seq());
        String text = "The guardian saw that " + finding.summary() + ". " + finding.advice();
        return new Decision(
                counted(1).with(rung),
                List.of(new Decision.Noted.Found(finding.pattern(), Action.NUDGE)),
                Optional.of(new GuardianAction.Nudge(acts, text)));
    }

    private Decision ask(Finding finding, DecisionInput input) {
        var rung = Rung.of(finding, Position.ASKED, input.now(), input.seq());
        String description = "The run is paused, because " + finding.summary()
                + ". Approve to let the agent continue, for example after you have sent it a message."
                + " Reject to stop the run.";
        return new Decision(
                counted(0).with(rung),
                List.of(new Decision.Noted.Found(finding.pattern(), Action.PAUSE)),
                Optional.of(new GuardianAction.Ask(acts, finding.rule(), "guardian: " + finding.rule(), description)));
    }

    private Decision stop(Rung rung, String reason) {
        return new Decision(
                counted(0).with(rung),
                List.of(new Decision.Noted.Found(rung.pattern(), Action.STOP)),
                Optional.of(new GuardianAction.Stop(acts, "stopped by the guardian: " + reason)));
    }

    private Decision answered(Rung rung, DecisionInput input, GuardianLimits limits) {
        Instant now = input.now();
        Rung stopped = rung.moved(Position.STOPPED, now, input.seq());
        Rung ended = rung.moved(Position.ENDED, now, input.seq());
        boolean isStrict = input.policy() == GuardianPolicy.STOP;
        Review.Status status = input.review().map(Review::status).orElse(Review.Status.PENDING);
        return switch (status) {
            case PENDING ->
                isStrict && !now.isBefore(rung.at().plus(limits.answer()))
                        ? stop(stopped, rung.summary() + ", and nobody answered the review")
                        : Decision.nothing(this);
            case APPROVED, ANSWERED ->
                new Decision(
                        counted(0).with(rung.moved(Position.CONTINUED, now, input.seq())),
                        List.of(),
                        Optional.of(new GuardianAction.Release(acts)));
            case REJECTED -> stop(stopped, rung.summary() + ", and " + by(input) + " rejected the review");
            case EXPIRED ->
                isStrict
                        ? stop(stopped, rung.summary() + ", and nobody answered the review")
                        : new Decision(with(ended), List.of(), Optional.empty());
            case CANCELLED -> new Decision(with(ended), List.of(), Optional.empty());
        };
    }

    private static String by(DecisionInput input) {
        return input.review()
                .flatMap(Review::answer)
                .map(answer -> answer.by().value())
                .orElse("a person");
    }

    /// Notes the patterns that have ended. A run without a new step has not ended one.
    private Decision ended(DecisionInput input) {
        Ladder after = this;
        var events = new ArrayList<Decision.Noted>();
        for (Rung rung : rungs) {
            boolean isWatched = rung.position() == Position.NUDGED || rung.position() == Position.CONTINUED;
            if (isWatched
                    && input.seq() > rung.seq()
                    && input.findings().stream().noneMatch(rung::isContinuedBy)) {
                after = after.with(rung.moved(Position.ENDED, input.now(), input.seq()));
                events.add(new Decision.Noted.Outcome(rung.pattern(), true));
            }
        }
        return events.isEmpty() ? Decision.nothing(this) : new Decision(after.counted(0), events, Optional.empty());
    }

    String text() {
        var lines = new ArrayList<String>();
        lines.add(acts + " " + nudges);
        rungs.forEach(rung -> lines.add(TextListColumn.encode(List.of(
                rung.rule(),
                rung.position().text(),
                String.valueOf(rung.at().toEpochMilli()),
                String.valueOf(rung.seq()),
                rung.review().orElse(""),
                rung.summary(),
                String.join(",", rung.evidence().stream().map(String::valueOf).toList())))));
        return String.join("\n", lines);
    }

    static Ladder of(List<String> lines) {
        if (lines.isEmpty()) {
            return EMPTY;
        }
        String[] numbers = lines.getFirst().split(" ", -1);
        return new Ladder(
                Integer.parseInt(numbers[0]),
                Integer.parseInt(numbers[1]),
                lines.stream().skip(1).map(Ladder::rung).toList());
    }

    private static Rung rung(String line) {
        List<String> words = TextListColumn.decode(line);
        return new Rung(
                words.get(0),
                TextEnum.of(Position.class, words.get(1)),
                Instant.ofEpochMilli(Long.parseLong(words.get(2))),
                Long.parseLong(words.get(3)),
                Optional.of(words.get(4)).filter(id -> !id.isEmpty()),
                words.get(5),
                words.get(6).isEmpty()
                        ? List.of()
                        : List.of(words.get(6).split(",")).stream()
                                .map(Long::parseLong)
                                .toList());
    }
}
