package dev.vivarium.cli;

import dev.vivarium.cli.run.SandboxNames;
import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.Review;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.sdk.RemoteClient;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "review",
        description = "List or answer the reviews of an agent.",
        footer = {
            "",
            "  viv review ID                      list reviews",
            "  viv review ID approve              answer the pending review: approve, reject, or an option by id or label",
            "  viv review ID reject --comment no --of REVIEW"
        })
final class ReviewCommand implements Callable<Integer> {
    @Mixin
    private final Invocation viv;

    @Option(names = "--of", paramLabel = "REVIEW", description = "Review to answer, if several are pending.")
    private @Nullable String review;

    @Option(names = "--comment", paramLabel = "TEXT", description = "Comment for the agent.")
    private @Nullable String comment;

    @Parameters(index = "0", paramLabel = "ID", description = "Id of the sandbox, or its thread.")
    private String name = "";

    @Parameters(index = "1", arity = "0..1", paramLabel = "DECISION", description = "approve, reject or an option.")
    private @Nullable String decision;

    ReviewCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        RemoteClient client = viv.client();
        String sandbox = SandboxNames.resolve(client, name);
        List<Review> all = client.reviews().list(sandbox);
        if (decision == null) {
            list(all);
        } else {
            String of = waiting(all);
            Review answered = client.reviews().answer(sandbox, of, decision(all, of), Optional.ofNullable(comment));
            if (viv.isJson()) {
                viv.json(out -> ReviewJson.REVIEW.writeFields(out, answered));
            } else {
                viv.print(answered.status().text());
            }
        }
        return 0;
    }

    private void list(List<Review> all) {
        if (viv.isJson()) {
            all.forEach(one -> viv.json(out -> ReviewJson.REVIEW.writeFields(out, one)));
            return;
        }
        var table = viv.table("REVIEW", "STATUS", "DECISION", "ASKED", "REASON", "QUESTION", "OPTIONS");
        for (Review one : all) {
            table.row(
                    one.id().value(),
                    one.status().text(),
                    one.answer().map(Review.Answer::decision).orElse("-"),
                    table.time(one.createdAt()),
                    one.asked().reason(),
                    one.asked().description(),
                    options(one));
        }
        table.print();
    }

    private static String options(Review review) {
        String options = ReviewJson.choices(review.asked()).stream()
                .map(choice -> choice.label().equals(choice.id()) ? choice.id() : choice.id() + ": " + choice.label())
                .collect(Collectors.joining("; "));
        return options.isEmpty() ? "approve; reject" : options + "; reject";
    }

    /// The id of the option whose label was given, or the decision as it was given.
    private String decision(List<Review> all, String id) {
        return all.stream()
                .filter(one -> one.id().value().equals(id))
                .flatMap(one -> ReviewJson.choices(one.asked()).stream())
                .filter(choice -> choice.label().equals(decision))
                .map(ReviewJson.Choice::id)
                .findFirst()
                .orElse(Objects.requireNonNull(decision));
    }

    private String waiting(List<Review> all) {
        if (review != null) {
            return review;
        }
        List<String> pending = all.stream()
                .filter(Review::isPending)
                .map(one -> one.id().value())
                .toList();
        if (pending.isEmpty()) {
            throw new SandboxException(new RunFailure.NothingAsked(nothingWaits(all)));
        }
        if (pending.size() > 1) {
            throw new SandboxException(new Failure.InvalidRequest("--of", "must be one of " + pending));
        }
        return pending.getFirst();
    }

    private String nothingWaits(List<Review> all) {
        String last = all.stream()
                .max(Comparator.comparing(Review::createdAt))
                .map(one -> "the last, " + one.id().value() + ", is "
                        + one.status().text()
                        + one.answer()
                                .map(answer -> " with " + answer.decision())
                                .orElse(""))
                .orElse("the agent has requested no review");
        return "no review of " + name + " is pending: " + last;
    }
}
