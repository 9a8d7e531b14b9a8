package dev.vivarium.scripted;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Request of an agent, independent of the dialect. Immutable.
///
/// @param news input since the model's last answer: messages of users and results of tools
/// @param length characters of the whole request
record Question(String model, boolean streamed, Set<String> tools, String news, int messages, int length) {
    /// Reads a request.
    ///
    /// @param ignored roles whose messages do not count as new input
    /// @param content text of the content of a message
    /// @param tool name of a tool
    static Question read(
            Node request, Set<String> ignored, Function<Node, String> content, Function<Node, String> tool) {
        List<Node> messages = request.get("messages").items();
        int spoke = 0;
        for (int i = 0; i < messages.size(); i++) {
            if (messages.get(i).get("role").text().equals("assistant")) {
                spoke = i + 1;
            }
        }
        String news = messages.subList(spoke, messages.size()).stream()
                .filter(message -> !ignored.contains(message.get("role").text()))
                .map(message -> content.apply(message.get("content")))
                .collect(Collectors.joining("\n"));
        return new Question(
                request.get("model").text(),
                request.get("stream").isTrue(),
                request.get("tools").items().stream().map(tool).collect(Collectors.toUnmodifiableSet()),
                news,
                messages.size(),
                request.json().length());
    }
}
