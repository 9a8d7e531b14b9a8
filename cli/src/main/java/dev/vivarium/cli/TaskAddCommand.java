package dev.vivarium.cli;

import dev.vivarium.model.Run;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TextEnum;
import dev.vivarium.sdk.TaskRequest;
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
    private static final String NO_RUNTIME = "none";

    @Mixin
    private final Invocation viv;

    @Mixin
    private final WorkOptions work = new WorkOptions();

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

    @Option(names = "--timeout", paramLabel = "TIME", description = "Limit of each attempt, such as 30m (1h).")
    private @Nullable Duration timeout;

    @Option(names = "--queue-timeout", paramLabel = "TIME", description = "Limit of the time in the queue (none).")
    private @Nullable Duration queueTimeout;

    @Option(names = "--retries", paramLabel = "NUMBER", description = "Attempts after the first one (3).")
    private @Nullable Integer retries;

    @Option(names = "--budget", paramLabel = "DOLLARS", description = "Maximum cost of each attempt.")
    private @Nullable BigDecimal budget;

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
        TaskText text = TaskText.of(task);
        TaskRequest request = TaskRequest.of(text.title());
        request = with(request, text.description(), TaskRequest::withDescription);
        request = with(request, runtime(), TaskRequest::withRuntime);
        request = with(request, Optional.ofNullable(model), TaskRequest::withModel);
        request = with(request, Optional.ofNullable(priority), TaskRequest::withPriority);
        request = with(request, Optional.ofNullable(agentType), TaskRequest::withAgentType);
        request = with(request, Optional.ofNullable(phase), TaskRequest::withPhase);
        request = with(request, work.ticket(), TaskRequest::withTicket);
        request = with(request, Optional.ofNullable(timeout), TaskRequest::withTimeout);
        request = with(request, Optional.ofNullable(queueTimeout), TaskRequest::withQueueTimeout);
        request = with(request, Optional.ofNullable(retries), TaskRequest::withMaxRetries);
        request = with(request, Optional.ofNullable(budget), TaskRequest::withBudget);
        request = with(request, Optional.ofNullable(image), TaskRequest::withImage);
        request = with(request, work.guardian(), TaskRequest::withGuardian);
        request = with(request, work.repository(), TaskRequest::withRepository);
        request = program.isEmpty() ? request : request.withProgram(program);
        request = env.isEmpty() ? request : request.withEnv(env);
        return after.isEmpty() ? request : request.after(after);
    }

    private Optional<Run.Runtime> runtime() {
        if (runtime.equals(NO_RUNTIME)) {
            return Optional.empty();
        }
        return Optional.of(TextEnum.find(Run.Runtime.class, runtime)
                .orElseThrow(
                        () -> SandboxException.invalid("--runtime", "must be claude, openhands, command or none")));
    }

    private static <T> TaskRequest with(
            TaskRequest request, Optional<T> value, BiFunction<TaskRequest, T, TaskRequest> set) {
        return value.map(given -> set.apply(request, given)).orElse(request);
    }
}
