package dev.vivarium.core.run;

import dev.vivarium.core.exec.Processes;
import dev.vivarium.core.image.WorkerImage;
import dev.vivarium.core.sandbox.OpenResult;
import dev.vivarium.core.sandbox.PauseReason;
import dev.vivarium.core.sandbox.Sandbox;
import dev.vivarium.core.sandbox.Sandboxes;
import dev.vivarium.model.End;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.Run;
import dev.vivarium.model.RunFailure;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.Status;
import java.util.Optional;

/// Starts and pauses agents in sandboxes. Thread-safe.
public final class Agents {
    private final Sandboxes sandboxes;
    private final Runs runs;
    private final Workers workers;
    private final Supervisor supervisor;
    private final Transcripts transcripts;
    private final String image;
    private final RunSetup setup;
    private final RunQuota quotas;

    /// @param image image with the SDKs of the agents
    /// @param setup prepares the sandbox of each run
    public Agents(
            Sandboxes sandboxes,
            Runs runs,
            Workers workers,
            Supervisor supervisor,
            Transcripts transcripts,
            String image,
            RunSetup setup) {
        this.sandboxes = sandboxes;
        this.runs = runs;
        this.workers = workers;
        this.supervisor = supervisor;
        this.transcripts = transcripts;
        this.image = image;
        this.setup = setup;
        this.quotas = new RunQuota(runs, sandboxes.quotas().quota().runs());
    }

    /// Starts an agent in the sandbox of a thread, and creates the sandbox if necessary. Fails with
    /// `run-in-progress` if the sandbox has an active run. If the worker does not start, the run fails with the
    /// reason.
    public Run start(NewRun wanted) {
        Optional<String> session = wanted.resumeFrom().map(from -> sessionOf(from, wanted));
        return start(wanted, new RunOrigin(session, wanted.resumeFrom(), Optional.empty()));
    }

    /// Starts a run that continues an earlier one, in a new sandbox with the files of the request. Without files,
    /// the conversation comes from the stored transcript, if there is one.
    Run resume(Run earlier, NewRun wanted) {
        boolean hasFiles = wanted.files().isPresent();
        Optional<SandboxId> transcript = Optional.of(earlier.sandbox())
                .filter(from -> !hasFiles && earlier.session().isPresent() && transcripts.has(from));
        Optional<String> session = earlier.session().filter(_ -> hasFiles || transcript.isPresent());
        return start(wanted, new RunOrigin(session, transcript, Optional.of(earlier.id())));
    }

    private Run start(NewRun wanted, RunOrigin origin) {
        NewSandbox request = withImage(wanted);
        sandboxes.find(request.key()).ifPresent(sandbox -> requireFree(sandbox, wanted.sandbox()));
        runs.requireFree(wanted.task());
        OpenResult opened;
        Run run;
        try (var _ = quotas.begin(request.user())) {
            opened = open(request, wanted);
            run = begin(opened, wanted, origin);
        }
        try {
            origin.transcript().ifPresent(from -> transcripts.restore(from, opened.sandbox(), run));
            RunSetup.Prepared prepared = setup.prepare(opened.sandbox(), run, wanted);
            Run named = runs.named(run, Processes.newName());
            workers.start(opened.sandbox(), named, request.env(), prepared);
            supervisor.take(runs.started(named));
        } catch (SandboxException e) {
            runs.end(run, Run.Status.FAILED, Optional.of(e.failure().sentence()), ReasonCode.NOT_STARTED);
        } catch (RuntimeException e) {
            // The supervisor does not follow the run, so it is ended here.
            String reason = "the worker could not be started: " + e.getMessage();
            runs.end(run, Run.Status.FAILED, Optional.of(reason), ReasonCode.NOT_STARTED);
            throw e;
        }
        return runs.find(run.sandbox()).orElse(run);
    }

    public boolean isAtWork(SandboxId sandbox) {
        return runs.isAtWork(sandbox);
    }

    /// Pauses a sandbox. If the provider cannot pause machines, the worker holds the agent.
    public void pause(Sandbox sandbox, PauseReason why) {
        try {
            sandbox.pause(why);
        } catch (SandboxException e) {
            if (!(e.failure() instanceof Failure.Unsupported) || !isAtWork(sandbox.id())) {
                throw e;
            }
            runs.hold(sandbox.id());
        }
    }

    /// Resumes a sandbox and its agent.
    public void resume(Sandbox sandbox, PauseReason why) {
        sandbox.resume(why);
        runs.resumeAgent(sandbox.id());
    }

    /// Asks the worker of a sandbox to hold its agent. The sandbox itself stays usable, so that a person can look
    /// at it. Fails with `no-run`.
    public void hold(SandboxId sandbox) {
        runs.hold(sandbox);
    }

    /// Resumes an agent that is held. Does nothing if no agent is held.
    public void release(SandboxId sandbox) {
        runs.resumeAgent(sandbox);
    }

    /// Stops a run and keeps its sandbox: asks the worker to exit, and kills it and its processes if it does not.
    /// Fails with `no-run` if the run has ended.
    public Run cancel(Run run, PauseReason why) {
        return stop(run, why, ReasonCode.ABORTED, Optional.empty());
    }

    /// Stops a run like [#cancel], with another reason.
    ///
    /// @param code   one of [ReasonCode]
    /// @param detail the reason as a sentence
    public Run stop(Run run, PauseReason why, String code, Optional<String> detail) {
        if (!run.isActive()) {
            throw Runs.noActiveRun(run.sandbox(), run.task());
        }
        // A frozen worker could not exit.
        sandboxes
                .find(run.sandbox())
                .filter(sandbox -> sandbox.info().status() == Status.PAUSED)
                .ifPresent(sandbox -> sandbox.resume(why));
        supervisor.stop(run, code, detail);
        return runs.find(run.id()).orElse(run);
    }

    /// Fails an active run whose worker does not end it. The caller must end or freeze its sandbox.
    ///
    /// @param code one of [ReasonCode]
    public void fail(Run run, String reason, String code) {
        supervisor.fail(run, new RunOutcome(RunOutcome.Kind.FAILED, reason, code));
    }

    /// Ends a sandbox that was created for a run that cannot start.
    private Run begin(OpenResult opened, NewRun wanted, RunOrigin origin) {
        try {
            boolean isCreated = opened.outcome() == OpenResult.Outcome.CREATED;
            return runs.begin(opened.sandbox().info(), wanted, origin, isCreated);
        } catch (RuntimeException e) {
            if (opened.outcome() == OpenResult.Outcome.CREATED) {
                sandboxes.terminate(opened.sandbox().id(), End.Cause.USER, "its run could not begin");
            }
            throw e;
        }
    }

    /// Returns the conversation of an earlier run of the same owner. A run of another owner counts as unknown.
    private String sessionOf(SandboxId from, NewRun wanted) {
        Run earlier = runs.find(from)
                .filter(run -> run.owner().equals(wanted.sandbox().user()))
                .orElseThrow(() -> new SandboxException(new RunFailure.NoSuchRun(from)));
        if (earlier.isActive()) {
            throw Runs.inProgress("sandbox " + from + " has an agent at work");
        }
        if (earlier.program().runtime() != wanted.program().runtime()) {
            throw SandboxException.invalid(
                    "resume_from",
                    "names a run of the runtime " + earlier.program().runtime().text());
        }
        return earlier.session()
                .filter(session -> transcripts.has(from))
                .orElseThrow(() -> Transcripts.noTranscript(from));
    }

    private NewSandbox withImage(NewRun wanted) {
        boolean needsSdk = wanted.program().runtime() != Run.Runtime.COMMAND;
        return needsSdk && wanted.sandbox().image().isEmpty() ? wanted.sandbox().withImage(image) : wanted.sandbox();
    }

    private void requireFree(Sandbox sandbox, NewSandbox request) {
        if (isAtWork(sandbox.id())) {
            throw Runs.inProgress("thread " + request.thread() + " has an agent at work");
        }
        if (request.limits().isPresent()
                || request.egress().isPresent()
                || request.image().isPresent()) {
            // These options apply at creation only, and must not be ignored silently.
            throw new SandboxException(new Failure.ThreadHasSandbox(request.thread()));
        }
    }

    private OpenResult open(NewSandbox request, NewRun wanted) {
        try {
            return wanted.files()
                    .map(files -> new OpenResult(sandboxes.fork(request, files), OpenResult.Outcome.CREATED))
                    .orElseGet(() -> sandboxes.open(request));
        } catch (SandboxException e) {
            boolean isMissing = wanted.sandbox().image().isEmpty()
                    && request.image().isPresent()
                    && e.failure() instanceof Failure.InvalidRequest invalid
                    && invalid.field().equals("image");
            if (!isMissing) {
                throw e;
            }
            String sentence = "the image '" + image + "' with the agent SDKs does not exist; " + buildHint();
            throw new SandboxException(new RunFailure.NoWorkerImage(image, sentence), e);
        }
    }

    /// Only one image contains the SDKs of the agents.
    private String buildHint() {
        String build = "viv image build " + WorkerImage.NAME;
        return image.equals(WorkerImage.NAME)
                ? "build it with: " + build
                : "import it, or run " + build + " and set worker-image to '" + WorkerImage.NAME + "'";
    }
}
