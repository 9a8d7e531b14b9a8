package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// OpenAI's chat completions. Stateless.
final class OpenAiDialect implements Dialect {
    private static final String LAST = "data: [DONE]\n\n";

    /// System messages do not count as new input, even at the beginning.
    private static final Set<String> SYSTEM = Set.of("system", "developer");

    @Override
    public Question read(Node request) {
        return Question.read(
                request,
                SYSTEM,
                OpenAiDialect::content,
                tool -> tool.get("function").get("name").text());
    }

    private static String content(Node content) {
        return content.string()
                .orElseGet(() -> content.items().stream()
                        .map(part -> part.get("text").text())
                        .collect(Collectors.joining("\n")));
    }

    @Override
    public String answer(Reply reply) {
        return head(reply, "chat.completion")
                .with("choices", choices("message", message(reply), finishReason(reply)))
                .with("usage", usage(reply))
                .json();
    }

    @Override
    public List<String> pieces(Reply reply) {
        Step step = reply.step();
        var pieces = new ArrayList<String>();
        pieces.add(delta(reply, "role", "assistant"));
        Reply.pieces(step.thinking()).forEach(piece -> pieces.add(delta(reply, "reasoning_content", piece)));
        Reply.pieces(step.text()).forEach(piece -> pieces.add(delta(reply, "content", piece)));
        for (int i = 0; i < step.calls().size(); i++) {
            call(pieces, reply, i);
        }
        pieces.add(event(chunk(reply, choices("delta", Node.EMPTY, finishReason(reply)))));
        pieces.add(event(chunk(reply, List.of()).with("usage", usage(reply))));
        pieces.add(LAST);
        return pieces;
    }

    @Override
    public String error(int status, String message) {
        Node error = Node.EMPTY
                .with("message", message)
                .with("type", status == 429 ? "rate_limit_error" : "server_error")
                .with("code", status);
        return Node.EMPTY.with("error", error).json();
    }

    /// Adds the name of the tool first, then its input in pieces.
    private static void call(List<String> pieces, Reply reply, int index) {
        Step.Call call = reply.step().calls().get(index);
        Node part = Node.EMPTY.with("index", index);
        Node start = part.with("id", reply.callId("call", index))
                .with("type", "function")
                .with("function", function(call.tool(), ""));
        pieces.add(delta(reply, "tool_calls", List.of(start)));
        for (String piece : Reply.pieces(call.input().json())) {
            Node next = part.with("function", Node.EMPTY.with("arguments", piece));
            pieces.add(delta(reply, "tool_calls", List.of(next)));
        }
    }

    private static Node message(Reply reply) {
        Step step = reply.step();
        Node message =
                Node.EMPTY.with("role", "assistant").with("content", step.text().isEmpty() ? null : step.text());
        if (!step.thinking().isEmpty()) {
            message = message.with("reasoning_content", step.thinking());
        }
        return step.calls().isEmpty() ? message : message.with("tool_calls", calls(reply));
    }

    private static List<Node> calls(Reply reply) {
        List<Step.Call> calls = reply.step().calls();
        return IntStream.range(0, calls.size())
                .mapToObj(i -> Node.EMPTY
                        .with("id", reply.callId("call", i))
                        .with("type", "function")
                        .with(
                                "function",
                                function(
                                        calls.get(i).tool(),
                                        calls.get(i).input().json())))
                .toList();
    }

    private static Node function(String name, String arguments) {
        return Node.EMPTY.with("name", name).with("arguments", arguments);
    }

    private static String delta(Reply reply, String field, Object value) {
        return event(chunk(reply, choices("delta", Node.EMPTY.with(field, value), null)));
    }

    private static Node chunk(Reply reply, List<Node> choices) {
        return head(reply, "chat.completion.chunk").with("choices", choices);
    }

    private static String event(Node data) {
        return "data: " + data.json() + "\n\n";
    }

    private static List<Node> choices(String name, Node content, @Nullable String finishReason) {
        return List.of(Node.EMPTY.with("index", 0).with(name, content).with("finish_reason", finishReason));
    }

    private static String finishReason(Reply reply) {
        return reply.step().calls().isEmpty() ? "stop" : "tool_calls";
    }

    private static Node head(Reply reply, String object) {
        return Node.EMPTY
                .with("id", reply.id("chatcmpl"))
                .with("object", object)
                .with("created", 1_700_000_000L + reply.number())
                .with("model", reply.question().model());
    }

    private static Node usage(Reply reply) {
        Step.Usage usage = reply.usage();
        return Node.EMPTY
                .with("prompt_tokens", usage.input())
                .with("completion_tokens", usage.output())
                .with("total_tokens", usage.input() + usage.output())
                .with("prompt_tokens_details", Node.EMPTY.with("cached_tokens", usage.cacheRead()));
    }
}
