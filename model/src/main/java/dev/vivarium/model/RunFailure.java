package dev.vivarium.model;

import java.util.Optional;

/// Failures of agent runs, their tasks, messages and reviews.
public sealed interface RunFailure extends Failure {
    /// The caller has no run in that sandbox that a new run could resume.
    record NoSuchRun(SandboxId id) implements RunFailure {
        @Override
        public String sentence() {
            return "resume_from: no run of yours was in sandbox '" + id
                    + "'; GET /api/v1/sandboxes?runs=only&ended=true lists those that were (viv runs)";
        }
    }

    /// The sandbox has no active run. With a task: the active run does not work on that task.
    record NoRun(SandboxId id, Optional<TaskId> task) implements RunFailure {
        @Override
        public String sentence() {
            return task.map(t -> "nobody works at task " + t + " in sandbox " + id + " any more: that run is over")
                    .orElse("no agent runs in sandbox " + id);
        }
    }

    /// A sandbox, thread or task that must be free has an active run.
    record RunInProgress(String why) implements RunFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    record NoTranscript(SandboxId id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no conversation of the agent of sandbox " + id
                    + " to go on with: it left none, or it was removed since; start without resume_from";
        }
    }

    /// The image that runs agents has not been built.
    record NoWorkerImage(String image, String why) implements RunFailure {
        @Override
        public String sentence() {
            return why;
        }
    }

    record TooManyMessages(SandboxId id, int waiting) implements RunFailure {
        @Override
        public String sentence() {
            return "the agent of sandbox " + id + " has not heard " + waiting
                    + " messages yet: say this again when it has heard some";
        }
    }

    record NoSuchTask(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no task '" + id + "'; give it as task: {…}";
        }
    }

    /// The sandbox of the caller has no task.
    record NoTask() implements RunFailure {
        @Override
        public String sentence() {
            return "there is no task for this sandbox any more";
        }
    }

    /// The run that worked on the task has ended.
    record TaskOver(SandboxId id, TaskId task, String state) implements RunFailure {
        @Override
        public String sentence() {
            return "task " + task + " is " + state + ": the run in sandbox " + id + " that worked at it is over";
        }
    }

    record NoSuchReview(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no review '" + id + "'";
        }
    }

    record TooManyReviews(int limit) implements RunFailure {
        @Override
        public String sentence() {
            return "this run waits for " + limit + " answers already";
        }
    }

    record ReviewAnswered(ReviewId id, Review.Status status) implements RunFailure {
        @Override
        public String sentence() {
            return "review " + id + " is " + status.text() + " and cannot be answered again";
        }
    }

    /// The run has no pending review.
    record NothingAsked(String why) implements RunFailure {
        @Override
        public String sentence() {
            return why;
        }
    }
}
