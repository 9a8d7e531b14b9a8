package dev.vivarium.model;

import java.util.Optional;

/// Failures of agent runs, their tasks, messages and reviews. Immutable.
public sealed interface RunFailure extends Failure {
    /// The caller has no run in that sandbox that a new run could resume.
    record NoSuchRun(SandboxId id) implements RunFailure {
        @Override
        public String sentence() {
            return "resume_from: you have no run in sandbox '" + id
                    + "'; GET /api/v1/sandboxes?runs=only&ended=true lists your runs (viv runs)";
        }
    }

    /// The caller has no run with that id.
    record UnknownRun(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no run '" + id + "'; GET /api/v1/runs lists your runs (viv runs)";
        }
    }

    /// The server has no forensics of the run.
    record NoForensics(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there are no forensics of run " + id
                    + "; the server collects them when a worker stops responding or crashes, and deletes them after"
                    + " log-keep-days";
        }
    }

    /// The sandbox has no active run. With a task: the active run does not work on that task.
    record NoRun(SandboxId id, Optional<TaskId> task) implements RunFailure {
        @Override
        public String sentence() {
            return task.map(t -> "the run on task " + t + " in sandbox " + id + " has ended")
                    .orElse("no agent runs in sandbox " + id);
        }
    }

    /// A sandbox, thread or task that must be free has an active run.
    record RunInProgress(String sentence) implements RunFailure {}

    /// The run has no stored transcript that a new run could resume.
    record NoTranscript(SandboxId id) implements RunFailure {
        @Override
        public String sentence() {
            return "the run in sandbox " + id + " has no stored transcript; start the new run without resume_from";
        }
    }

    /// The image that runs agents has not been built.
    record NoWorkerImage(String image, String sentence) implements RunFailure {}

    /// The maximum number of messages is waiting for the agent.
    record TooManyMessages(SandboxId id, int waiting) implements RunFailure {
        @Override
        public String sentence() {
            return "the agent of sandbox " + id + " has not read " + waiting
                    + " messages yet; send this one again after it has read some";
        }
    }

    /// The caller has no task with that id.
    record NoSuchTask(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no task '" + id + "'; GET /api/v1/tasks lists your tasks (viv task ls)";
        }
    }

    /// The status of the task does not permit the request.
    record TaskInState(TaskId id, Task.Status status, String rule) implements RunFailure {
        @Override
        public String sentence() {
            return "task " + id + " is " + status.text() + "; " + rule;
        }
    }

    /// The attempt of a worker has ended, or belongs to another worker.
    record AttemptOver(TaskId id, int attempt) implements RunFailure {
        @Override
        public String sentence() {
            return "attempt " + attempt + " at task " + id
                    + " is over, because its lease lapsed or the task was cancelled; claim another task";
        }
    }

    /// The files of a task that another one inherits do not exist any more.
    record TaskDiskGone(TaskId id, String why) implements RunFailure {
        @Override
        public String sentence() {
            return "the disk of task " + id + " is gone: " + why
                    + "; add that task again, and inherit from the new one";
        }
    }

    /// The sandbox of the caller has no task.
    record NoTask() implements RunFailure {
        @Override
        public String sentence() {
            return "this sandbox has no task";
        }
    }

    /// The run that worked on the task has ended.
    record TaskOver(SandboxId id, TaskId task, String state) implements RunFailure {
        @Override
        public String sentence() {
            return "task " + task + " is " + state + ": its run in sandbox " + id + " has ended";
        }
    }

    /// The caller has no review with that id.
    record NoSuchReview(String id) implements RunFailure {
        @Override
        public String sentence() {
            return "there is no review '" + id + "'";
        }
    }

    /// The run has the maximum number of pending reviews.
    record TooManyReviews(int limit) implements RunFailure {
        @Override
        public String sentence() {
            return "this run has " + limit + " pending reviews, the maximum";
        }
    }

    /// The review has been answered or has expired.
    record ReviewAnswered(ReviewId id, Review.Status status) implements RunFailure {
        @Override
        public String sentence() {
            return "review " + id + " is " + status.text() + " and cannot be answered again";
        }
    }

    /// The run has no pending review.
    record NothingAsked(String sentence) implements RunFailure {}
}
