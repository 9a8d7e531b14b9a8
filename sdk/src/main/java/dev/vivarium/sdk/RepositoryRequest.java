package dev.vivarium.sdk;

import dev.vivarium.json.JsonType;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Git repository that the agent of a run or a task works on. Immutable.
///
/// @param credential name of a stored credential
/// @param base       branch to start from; the default branch of the remote if absent
/// @param ticket     part of the name of the branch
/// @param onSuccess  `push` or `pull_request`
public record RepositoryRequest(
        String url, String credential, Optional<String> base, Optional<String> ticket, Optional<String> onSuccess) {
    static final JsonType<RepositoryRequest> TYPE = JsonType.written(Map.of(), RepositoryRequest::write);

    private static void write(JsonGenerator out, RepositoryRequest repository) {
        out.writeStartObject();
        out.writeStringProperty("url", repository.url);
        out.writeStringProperty("credential", repository.credential);
        repository.base.ifPresent(name -> out.writeStringProperty("base", name));
        repository.ticket.ifPresent(id -> out.writeStringProperty("ticket", id));
        repository.onSuccess.ifPresent(action -> out.writeStringProperty("on_success", action));
        out.writeEndObject();
    }
}
