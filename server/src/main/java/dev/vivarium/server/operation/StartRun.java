package dev.vivarium.server.operation;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.access.Principal;
import dev.vivarium.core.git.GitCredentials;
import dev.vivarium.core.run.Agents;
import dev.vivarium.core.run.NewRun;
import dev.vivarium.core.run.Tasks;
import dev.vivarium.core.run.Workers;
import dev.vivarium.model.GuardianPolicy;
import dev.vivarium.model.NewSandbox;
import dev.vivarium.model.NewTask;
import dev.vivarium.model.Repository;
import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxId;
import dev.vivarium.model.ThreadId;
import dev.vivarium.model.UserId;
import java.math.BigDecimal;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/// Operation that starts an agent run for a task, in a new sandbox or in the sandbox of a thread. Thread-safe.
public final class StartRun {
    private static final int MAX_ARGUMENTS = 1000;
    private static final int MAX_MODEL = 200;
    private static final double MAX_BUDGET = 1_000_000;

    /// Variables with the same effect as a field of the request.
    private static final Map<String, String> FIELDS =
            Map.of("MODEL", "model", "BUDGET_USD", "budget_usd", "RESUME_SESSION", "resume_from");

    private final Agents agents;
    private final Tasks tasks;
    private final SandboxRule rule;
    private final GitCredentials git;
    private final SecureRandom random = new SecureRandom();

    public StartRun(Agents agents, Tasks tasks, SandboxRule rule, GitCredentials git) {
        this.agents = agents;
        this.tasks = tasks;
        this.rule = rule;
        this.git = git;
    }

    /// Either `task` or `taskId` is present. Immutable.
    ///
    /// @param command    program and its arguments, for [Run.Runtime#COMMAND] only
    /// @param sandbox    the user is the owner of the run
    /// @param resumeFrom id of the sandbox of the run whose conversation the new run continues
    public record Request(
            Optional<NewTask> task,
            Optional<String> taskId,
            Run.Runtime runtime,
            Optional<List<String>> command,
            Optional<String> model,
            NewSandbox sandbox,
            OptionalDouble budgetUsd,
            Optional<String> resumeFrom,
            Optional<GuardianPolicy> guardian,
            Optional<Repository> repository) {}

    /// Returns the rule that the sandboxes of runs must follow.
    public SandboxRule rule() {
        return rule;
    }

    /// Returns the id of a new thread, for a request that names none.
    public ThreadId newThread() {
        var bytes = new byte[8];
        random.nextBytes(bytes);
        return new ThreadId("agent-" + HexFormat.of().formatHex(bytes));
    }

    public Run start(Principal caller, Request request) {
        UserId owner = request.sandbox.user();
        CreateSandbox.requireMayActFor(caller, owner);
        var program = program(request);
        var budget = budget(request.budgetUsd);
        var resume = request.resumeFrom.map(StartRun::sandbox);
        var assignment = assignment(request, owner);
        checkSandbox(program.runtime(), request.sandbox);
        var repository = accepted(owner, request.repository);
        return agents.start(
                new NewRun(assignment, program, request.sandbox, budget, resume, request.guardian, repository));
    }

    /// Returns the repository with a stored credential of the owner. Fails if the credential cannot be used.
    Optional<Repository> accepted(UserId owner, Optional<Repository> repository) {
        return repository.map(wanted -> git.accepted(owner, wanted));
    }

    private static Run.Program program(Request request) {
        boolean isCommand = request.runtime == Run.Runtime.COMMAND;
        require(isCommand || request.command.isEmpty(), "command", "is for the runtime command alone");
        var program = new Run.Program(request.runtime, request.command.orElse(List.of()), request.model);
        check(program);
        return program;
    }

    /// Fails with `InvalidRequest` if the program cannot run in such a sandbox.
    void check(Run.Program program, NewSandbox sandbox) {
        check(program);
        checkSandbox(program.runtime(), sandbox);
    }

    private void checkSandbox(Run.Runtime runtime, NewSandbox sandbox) {
        rule.check(sandbox);
        sandbox.env().keySet().forEach(name -> requireFree(runtime, name));
    }

    private static void check(Run.Program program) {
        boolean isCommand = program.runtime() == Run.Runtime.COMMAND;
        List<String> words = program.command();
        require(!isCommand || !words.isEmpty(), "command", "must name a program");
        require(isCommand || words.isEmpty(), "command", "is for the runtime command alone");
        require(words.size() <= MAX_ARGUMENTS, "command", "must have at most " + MAX_ARGUMENTS + " words");
        require(words.stream().noneMatch(word -> word.indexOf('\0') >= 0), "command", "must not hold a NUL character");
        require(words.isEmpty() || !words.getFirst().isBlank(), "command", "must name a program");
        require(
                program.model()
                        .filter(name -> !name.matches("[\\x21-\\x7e]{1," + MAX_MODEL + "}"))
                        .isEmpty(),
                "model",
                "must be the name of a model: at most " + MAX_MODEL + " characters without spaces");
    }

    private static Optional<BigDecimal> budget(OptionalDouble budget) {
        if (budget.isEmpty()) {
            return Optional.empty();
        }
        var dollars = BigDecimal.valueOf(budget.getAsDouble());
        requireBudget(dollars);
        return Optional.of(dollars);
    }

    static void requireBudget(BigDecimal dollars) {
        require(
                dollars.signum() > 0 && dollars.doubleValue() <= MAX_BUDGET,
                "budget_usd",
                "must be above 0 and at most " + (long) MAX_BUDGET);
    }

    private NewRun.Assignment assignment(Request request, UserId owner) {
        var task = request.task;
        var id = request.taskId;
        require(task.isPresent() || id.isPresent(), "task", "is required, or task_id");
        require(task.isEmpty() || id.isEmpty(), "task_id", "must not be given with task");
        return task.<NewRun.Assignment>map(NewRun.Assignment.Fresh::new)
                .orElseGet(() -> new NewRun.Assignment.Known(
                        tasks.require(id.orElseThrow(), owner::equals).id()));
    }

    /// Rejects a variable that the server sets itself, because the server would silently override the requested
    /// value.
    private static void requireFree(Run.Runtime runtime, String variable) {
        String instead = FIELDS.containsKey(variable) ? "give " + FIELDS.get(variable) : "choose another name";
        require(
                !Workers.sets(runtime, variable),
                "env." + variable,
                "is set by the server for runs of " + runtime.text() + "; " + instead);
    }

    private static SandboxId sandbox(String id) {
        require(SandboxId.isWellFormed(id), "resume_from", "must be the id of a sandbox");
        return new SandboxId(id);
    }
}
