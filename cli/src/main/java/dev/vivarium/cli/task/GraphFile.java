package dev.vivarium.cli.task;

import dev.vivarium.cli.task.Value.Fields;
import dev.vivarium.cli.task.Value.Items;
import dev.vivarium.cli.task.Value.Text;
import dev.vivarium.json.Json;
import dev.vivarium.json.JsonType;
import dev.vivarium.json.TaskJson;
import dev.vivarium.model.Failure;
import dev.vivarium.model.NearestName;
import dev.vivarium.model.SandboxException;
import dev.vivarium.model.TaskId;
import dev.vivarium.model.TaskPriority;
import dev.vivarium.model.TextEnum;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Graph of tasks from a YAML file, with the form of `POST /api/v1/tasks/graph`. Immutable.
///
/// Every error names the file, the line and the task.
public final class GraphFile {
    static final int MAX_TASKS = 1000;

    private static final int MAX_DEPENDENCIES = 100;
    /// Maximum size of a request of the API.
    private static final int MAX_BYTES = 1024 * 1024;
    private static final int SHOWN = 20;
    private static final String OWNER = "user_id";
    private static final Pattern PLACE = Pattern.compile("tasks\\[(\\d{1,4})]\\.?(([a-z_]*).*)");

    private final SourceFile file;
    private final Fields document;
    private final List<Fields> tasks;
    private final int[] steps;

    /// A task and the step in which it can start.
    ///
    /// @param label the name of the task, or its title
    public record PlannedTask(int step, String label, String title, TaskPriority priority, List<String> dependencies) {
        public PlannedTask {
            dependencies = List.copyOf(dependencies);
        }
    }

    private GraphFile(SourceFile file, Fields document, Items items) {
        this.file = file;
        this.document = document;
        this.tasks = items.all().stream().map(Fields.class::cast).toList();
        List<Set<Integer>> dependencies = dependencies(names());
        this.steps = StartOrder.steps(dependencies);
        requireNoCycle(StartOrder.cycle(dependencies, steps));
    }

    /// Reads and checks a graph.
    ///
    /// @param name name of the file, for error messages
    public static GraphFile read(String name, String text) {
        var file = new SourceFile(name);
        Value document = YamlTree.read(file, text);
        if (!(document instanceof Fields fields) || !(fields.all().get("tasks") instanceof Items items)) {
            throw file.error(document.line(), "the file", "must have a list of tasks, as 'tasks:' and '- title: …'");
        }
        requireSize(file, items);
        checkDocument(file, fields, items);
        return new GraphFile(file, fields, items);
    }

    private static void requireSize(SourceFile file, Items items) {
        int count = items.all().size();
        if (count == 0 || count > MAX_TASKS) {
            throw file.error(
                    items.line(), "tasks", "must be 1 to " + MAX_TASKS + " tasks, not " + count + "; split the graph");
        }
    }

    private static void checkDocument(SourceFile file, Fields document, Items items) {
        var check = new SchemaCheck(file);
        Map<?, ?> known = properties();
        document.all().forEach((name, value) -> {
            if (!(known.get(name) instanceof JsonType<?> type)) {
                List<String> names =
                        known.keySet().stream().map(String::valueOf).toList();
                throw file.error(
                        value.line(), name, "is not a known field; did you mean " + NearestName.of(name, names) + "?");
            } else if (value != items) {
                check.check(name, value, type);
            }
        });
        for (int i = 0; i < items.all().size(); i++) {
            check.check(
                    "task " + label(items.all().get(i), i) + ": ", items.all().get(i), taskType());
        }
    }

    private static Map<?, ?> properties() {
        return TaskJson.GRAPH.schema().get("properties") instanceof Map<?, ?> known ? known : Map.of();
    }

    private static JsonType<?> taskType() {
        if (properties().get("tasks") instanceof JsonType<?> tasks
                && tasks.schema().get("items") instanceof JsonType<?> task) {
            return task;
        }
        throw new IllegalStateException("the schema of a graph has no tasks");
    }

    /// Returns the name of a task, otherwise its title, otherwise its position.
    private static String label(Value task, int index) {
        return task instanceof Fields fields
                ? fields.text("name").or(() -> fields.text("title")).orElse("#" + (index + 1))
                : "#" + (index + 1);
    }

    private String label(int index) {
        return label(tasks.get(index), index);
    }

    private SandboxException error(int index, String field, String rule) {
        Fields task = tasks.get(index);
        int line = task.find(field).map(Value::line).orElse(task.line());
        return file.error(line, "task " + label(index) + ": " + field, rule);
    }

    private Map<String, Integer> names() {
        var names = new HashMap<String, Integer>();
        for (int i = 0; i < tasks.size(); i++) {
            String name = tasks.get(i).text("name").orElse("");
            if (TaskId.isWellFormed(name)) {
                throw error(i, "name", "must not have the form of a task_id");
            }
            Integer other = name.isEmpty() ? null : names.putIfAbsent(name, i);
            if (other != null) {
                int line = tasks.get(other).find("name").orElseThrow().line();
                throw error(i, "name", "is the name of two tasks, also in line " + line);
            }
        }
        return names;
    }

    private List<Set<Integer>> dependencies(Map<String, Integer> names) {
        var all = new ArrayList<Set<Integer>>();
        for (int i = 0; i < tasks.size(); i++) {
            List<Text> wanted = tasks.get(i).texts("depends_on");
            if (wanted.size() > MAX_DEPENDENCIES) {
                throw error(i, "depends_on", "must have at most " + MAX_DEPENDENCIES + " entries");
            }
            var found = new LinkedHashSet<Integer>();
            for (Text dependency : wanted) {
                Integer target = names.get(dependency.value());
                if (target != null) {
                    found.add(target);
                } else if (!TaskId.isWellFormed(dependency.value())) {
                    throw unknownDependency(i, dependency, names.keySet());
                }
            }
            all.add(found);
        }
        return all;
    }

    private SandboxException unknownDependency(int index, Text dependency, Set<String> names) {
        List<String> others = names.stream()
                .filter(name -> !name.equals(label(index)))
                .sorted()
                .toList();
        String advice = others.isEmpty()
                ? "; give the other tasks names"
                : "; did you mean " + NearestName.of(dependency.value(), others) + "?";
        return file.error(
                dependency.line(),
                "task " + label(index) + ": depends_on",
                "names no task of this file and is no task_id: " + dependency.value() + advice);
    }

    private void requireNoCycle(List<Integer> cycle) {
        if (cycle.isEmpty()) {
            return;
        }
        String path = cycle.stream().limit(SHOWN).map(this::label).collect(Collectors.joining(" → "));
        String rest = cycle.size() <= SHOWN ? "" : " → … (" + (cycle.size() - 1) + " tasks)";
        throw error(cycle.getFirst(), "depends_on", "makes a cycle: " + path + rest);
    }

    /// Returns the request for the API, a JSON object.
    ///
    /// @param user the owner of the tasks, unless the file has one
    public String json(Optional<String> user) {
        byte[] bytes = Json.bytes(out -> {
            user.filter(_ -> document.find(OWNER).isEmpty()).ifPresent(name -> out.writeStringProperty(OWNER, name));
            document.writeFields(out);
        });
        if (bytes.length > MAX_BYTES) {
            throw file.error("has " + bytes.length + " bytes as JSON; at most " + MAX_BYTES
                    + " are accepted; split the graph, or put texts into files of the sandbox");
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /// Returns the name of a task, or its title.
    public List<String> labels() {
        var labels = new ArrayList<String>();
        for (int i = 0; i < tasks.size(); i++) {
            labels.add(label(i));
        }
        return labels;
    }

    /// Returns the tasks in the order in which they can start, the highest priority of a step first.
    public List<PlannedTask> plan() {
        var plan = new ArrayList<PlannedTask>();
        for (int i = 0; i < tasks.size(); i++) {
            Fields task = tasks.get(i);
            var priority = task.text("priority")
                    .flatMap(text -> TextEnum.find(TaskPriority.class, text))
                    .orElse(TaskPriority.MEDIUM);
            plan.add(new PlannedTask(
                    steps[i],
                    label(i),
                    task.text("title").orElse(""),
                    priority,
                    task.texts("depends_on").stream().map(Text::value).toList()));
        }
        plan.sort((a, b) -> a.step() != b.step()
                ? Integer.compare(a.step(), b.step())
                : b.priority().compareTo(a.priority()));
        return plan;
    }

    /// Returns an error of the server with the line and the task that it is about.
    public SandboxException located(SandboxException error) {
        if (!(error.failure() instanceof Failure.InvalidRequest(String field, String rule))) {
            return error;
        }
        Matcher place = PLACE.matcher(field);
        if (!place.matches() || Integer.parseInt(place.group(1)) >= tasks.size()) {
            return new SandboxException(new Failure.InvalidRequest(file.name() + ": " + field, rule), error);
        }
        int index = Integer.parseInt(place.group(1));
        Fields task = tasks.get(index);
        int line = task.find(place.group(3)).map(Value::line).orElse(task.line());
        String rest = place.group(2).isEmpty() ? "" : ": " + place.group(2);
        return file.error(line, "task " + label(index) + rest, rule);
    }
}
