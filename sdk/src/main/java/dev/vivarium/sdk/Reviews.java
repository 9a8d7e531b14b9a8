package dev.vivarium.sdk;

import dev.vivarium.json.ReviewJson;
import dev.vivarium.model.Review;
import dev.vivarium.sdk.http.Transport;
import java.util.List;
import java.util.Optional;

/// Questions of agents to people. Thread-safe.
public final class Reviews {
    private final Transport transport;

    Reviews(Transport transport) {
        this.transport = transport;
    }

    /// All reviews of the agent in the sandbox.
    public List<Review> list(String sandbox) {
        return transport.get(
                path(sandbox),
                fields -> fields.objects("reviews").stream()
                        .map(ReviewJson.REVIEW::read)
                        .toList());
    }

    /// Answers a review with `approve`, `reject` or one of its options.
    public Review answer(String sandbox, String review, String decision, Optional<String> comment) {
        return transport.post(
                path(sandbox) + "/" + Transport.segment(review),
                out -> {
                    out.writeStringProperty("decision", decision);
                    comment.ifPresent(text -> out.writeStringProperty("comment", text));
                },
                ReviewJson.REVIEW::read);
    }

    private static String path(String sandbox) {
        return Runs.path(sandbox) + "/reviews";
    }
}
