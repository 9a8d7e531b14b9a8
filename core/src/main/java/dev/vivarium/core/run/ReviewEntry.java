package dev.vivarium.core.run;

import dev.vivarium.model.Review;
import dev.vivarium.model.ThreadKey;

/// Review in a list of all sandboxes, with its owner and the title of its task. Immutable.
public record ReviewEntry(Review review, ThreadKey key, String title) {}
