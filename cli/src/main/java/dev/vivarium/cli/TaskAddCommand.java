package dev.vivarium.cli;

import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.TaskRequest;
import dev.vivarium.sdk.TaskRequest.RepositoryRequest;
import dev.vivarium.sdk.Tasks.TaskRecord;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "add",
        description = "Add a task and print its id.",
        footer = {
            "",
            "  viv task add \"Fix the failing test\" --budget 2",
            "  viv task add \"Run the tests\" --runtime command --after TASK_ID -- make test"
        })
final class TaskAddCommand implements Callable<Integer> {
    private static final int LONGEST_TITLE = 100;
    private static final String NO_RUNTIME = "none";

    @Mixin
    private final Invocation viv;

    @Option(
            names = "--runtime",
            paramLabel = "NAME",
            description = "claude, openhands or command (claude). none for a worker outside of the server.")
    private String runtime = "claude";

    @Option(names = "--model", paramLabel = "NAME", description = "Model of the agent.")
    private @Nullable String model;

    @Option(
            names = "--after",
            paramLabel = "TASK_ID",
            split = ",",
            description = "Task that must complete first; may be repeated.")
    private List<String> after = List.of();

    @Option(names = "--priority", paramLabel = "PRIORITY", description = "low, medium, high or critical (medium).")
    private @Nullable TaskPriority priority;

    @Option(names = "--agent-type", paramLabel = "TYPE", description = "Type of the agent, for limits.")
    private @Nullable String agentType;

    @Option(names = "--phase", paramLabel = "PHASE", description = "Label phase_id.")
    private @Nullable String phase;

    @Option(names = "--ticket", paramLabel = "TICKET", description = "Label ticket_id.")
    private @Nullable String ticket;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Limit of each attempt, such as 30m (1h).")
    private @Nullable Duration timeout;

    @Option(names = "--queue-timeout", paramLabel = "TIME", description = "Limit of the time in the queue (none).")
    private @Nullable Duration queueTimeout;

    @Option(names = "--retries", paramLabel = "NUMBER", description = "Attempts after the first one (3).")
    private @Nullable Integer retries;

    @Option(names = "--budget", paramLabel = "DOLLARS", description = "Maximum cost of each attempt.")
    private @Nullable BigDecimal budget;

    @Option(
            names = "--guardian",
            paramLabel = "POLICY",
            description = "off, watch, steer or stop (that of the server).")
    private @Nullable String guardian;

    @Option(
            names = "--repository",
            paramLabel = "URL",
            description = "Git repository that the agent works on, with --credential.")
    private @Nullable String repository;

    @Option(names = "--credential", paramLabel = "NAME", description = "Stored credential of the repository.")
    private @Nullable String credential;

    @Option(names = "--base", paramLabel = "BRANCH", description = "Branch to start from (the default branch).")
    private @Nullable String base;

    @Option(
            names = "--on-success",
            paramLabel = "ACTION",
            description = "push, or pull_request; then the server delivers the changes.")
    private @Nullable String onSuccess;

    @Option(names = "--image", paramLabel = "NAME", description = "Image of the sandbox.")
    private @Nullable String image;

    @Option(
            names = {"-e", "--env"},
            paramLabel = "NAME=VALUE",
            description = "Environment variable; may be repeated.")
    private Map<String, String> env = Map.of();

    @Parameters(index = "0", paramLabel = "TASK", description = "Task; its first line is the title.")
    private String task = "";

    @Parameters(index = "1..*", paramLabel = "PROGRAM", description = "Program of the runtime command.")
    private List<String> program = List.of();

    TaskAddCommand(Terminal terminal) {
        this.viv = new Invocation(terminal);
    }

    @Override
    public Integer call() {
        Account account = viv.account();
        TaskRequest request = request();
        TaskRequest owned = account.user()
                .filter(who -> !who.isEmpty())
                .map(request::ofUser)
                .orElse(request);
        TaskRecord added = viv.client(account).tasks().add(owned);
        if (viv.isJson()) {
            viv.printJson(added.json());
        } else {
            viv.print(added.id().value());
        }
        return 0;
    }

    private TaskRequest request() {
        TaskRequest request = titled();
        request = with(request, model, TaskRequest::withModel);
        request = with(request, priority, TaskRequest::withPriority);
        request = with(request, agentType, TaskRequest::withAgentType);
        request = with(request, phase, TaskRequest::withPhase);
        request = with(request, ticket, TaskRequest::withTicket);
        request = with(request, timeout, TaskRequest::withTimeout);
        request = with(request, queueTimeout, TaskRequest::withQueueTimeout);
        request = with(request, retries, TaskRequest::withMaxRetries);
        request = with(request, budget, TaskRequest::withBudget);
        request = with(request, image, TaskRequest::withImage);
        request = with(request, guardian, TaskRequest::withGuardian);
        request = with(request, repository(), TaskRequest::withRepository);
        request = env.isEmpty() ? request : request.withEnv(env);
        return after.isEmpty() ? request : request.after(after);
    }

    /// Returns the task with its title, its program and, if the title is not the whole text, its description.
    private TaskRequest titled() {
        String text = task.strip();
        String first = text.lines().findFirst().orElse("");
        String title = first.length() > LONGEST_TITLE ? first.substring(0, LONGEST_TITLE) : first;
        TaskRequest request = TaskRequest.of(title);
        request = text.equals(title) ? request : request.withDescription(text);
        if (!runtime.equals(NO_RUNTIME)) {
            request = request.withRuntime(TextEnum.find(Run.Runtime.class, runtime)
                    .orElseThrow(
                            () -> SandboxException.invalid("--runtime", "must be claude, openhands, command or none")));
        }
        return program.isEmpty() ? request : request.withProgram(program);
    }

    private @Nullable RepositoryRequest repository() {
        if (repository == null && credential == null && base == null && onSuccess == null) {
            return null;
        }
        if (repository == null || credential == null) {
            throw SandboxException.invalid("--repository", "and --credential are needed together");
        }
        return new RepositoryRequest(
                repository,
                credential,
                Optional.ofNullable(base),
                Optional.ofNullable(ticket),
                Optional.ofNullable(onSuccess));
    }

    private static <T> TaskRequest with(
            TaskRequest request, @Nullable T value, BiFunction<TaskRequest, T, TaskRequest> set) {
        return value == null ? request : set.apply(request, value);
    }
}
