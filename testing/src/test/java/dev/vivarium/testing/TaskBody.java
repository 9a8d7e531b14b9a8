package dev.vivarium.testing;

import dev.vivarium.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Body of a request that adds a task. Stateless.
final class TaskBody {
    private TaskBody() {}

    /// A task that runs a shell script, without retries. `more` holds more fields of the request.
    static String of(String script, String more) {
        String text = new String(
                Json.bytes(out -> {
                    out.writeStringProperty("title", "a task");
                    out.writeStringProperty("runtime", "command");
                    out.writeNumberProperty("max_retries", 0);
                    out.writeArrayPropertyStart("command");
                    List.of("sh", "-c", script).forEach(out::writeString);
                    out.writeEndArray();
                }),
                StandardCharsets.UTF_8);
        return more.isEmpty() ? text : text.substring(0, text.length() - 1) + "," + more + "}";
    }
}
