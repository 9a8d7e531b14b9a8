package dev.vivarium.core.run;

import dev.vivarium.model.Review;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;

/// A review as a list of all sandboxes shows it: with whose it is, and the title of the task. Immutable.
public record ReviewEntry(Review review, ThreadId thread, UserId owner, String title) {}
