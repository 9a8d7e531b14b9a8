package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// OpenAI's chat completions. Stateless.
final class OpenAiDialect implements Dialect {
    private static final String LAST = "data: [DONE]\n\n";

    @Override
    public Question read(Node request) {
        List<Node> messages = request.get("messages").items();
        int spoke = 0;
        for (int i = 0; i < messages.size(); i++) {
            if (messages.get(i).get("role").text().equals("assistant")) {
                spoke = i + 1;
            }
        }
        // System messages do not count as new input, even at the beginning.
        String news = messages.subList(spoke, messages.size()).stream()
                .filter(message -> !message.get("role").text().matches("system|developer"))
                .map(message -> content(message.get("content")))
                .collect(Collectors.joining("\n"));
        return new Question(
                request.get("model").text(),
                request.get("stream").isTrue(),
                request.get("tools").items().stream()
                        .map(tool -> tool.get("function").get("name").text())
                        .collect(Collectors.toUnmodifiableSet()),
                news,
                messages.size(),
                request.json().length());
    }

    private static String content(Node content) {
        return content.string()
                .orElseGet(() -> content.items().stream()
                        .map(part -> part.get("text").text())
                        .collect(Collectors.joining("\n")));
    }

    @Override
    public String answer(Reply reply) {
        return Node.object(out -> {
            head(out, reply, "chat.completion");
            choice(out, reply, "message", message -> {
                message.writeStringProperty("role", "assistant");
                text(message, "content", reply.step().text());
                thought(message, reply.step().thinking());
                calls(message, reply);
            });
            usage(out, reply);
        });
    }

    @Override
    public List<String> pieces(Reply reply) {
        Step step = reply.step();
        var pieces = new ArrayList<String>();
        pieces.add(delta(reply, out -> out.writeStringProperty("role", "assistant")));
        Reply.pieces(step.thinking()).forEach(piece -> pieces.add(delta(reply, out -> thought(out, piece))));
        Reply.pieces(step.text())
                .forEach(piece -> pieces.add(delta(reply, out -> out.writeStringProperty("content", piece))));
        for (int i = 0; i < step.calls().size(); i++) {
            call(pieces, reply, i);
        }
        pieces.add(chunk(reply, out -> choice(out, reply, "delta", delta -> {})));
        pieces.add(chunk(reply, out -> {
            out.writeArrayPropertyStart("choices");
            out.writeEndArray();
            usage(out, reply);
        }));
        pieces.add(LAST);
        return pieces;
    }

    @Override
    public String error(int status, String message) {
        return Node.object(out -> {
            out.writeObjectPropertyStart("error");
            out.writeStringProperty("message", message);
            out.writeStringProperty("type", status == 429 ? "rate_limit_error" : "server_error");
            out.writeNumberProperty("code", status);
            out.writeEndObject();
        });
    }

    /// Adds the name of the tool first, then its input in pieces.
    private static void call(List<String> pieces, Reply reply, int index) {
        Step.Call call = reply.step().calls().get(index);
        pieces.add(delta(reply, out -> {
            out.writeArrayPropertyStart("tool_calls");
            out.writeStartObject();
            out.writeNumberProperty("index", index);
            out.writeStringProperty("id", reply.callId("call", index));
            out.writeStringProperty("type", "function");
            function(out, call.tool(), "");
            out.writeEndObject();
            out.writeEndArray();
        }));
        for (String piece : Reply.pieces(call.input().json())) {
            pieces.add(delta(reply, out -> {
                out.writeArrayPropertyStart("tool_calls");
                out.writeStartObject();
                out.writeNumberProperty("index", index);
                out.writeObjectPropertyStart("function");
                out.writeStringProperty("arguments", piece);
                out.writeEndObject();
                out.writeEndObject();
                out.writeEndArray();
            }));
        }
    }

    private static void calls(JsonGenerator out, Reply reply) {
        List<Step.Call> calls = reply.step().calls();
        if (calls.isEmpty()) {
            return;
        }
        out.writeArrayPropertyStart("tool_calls");
        for (int i = 0; i < calls.size(); i++) {
            out.writeStartObject();
            out.writeStringProperty("id", reply.callId("call", i));
            out.writeStringProperty("type", "function");
            function(out, calls.get(i).tool(), calls.get(i).input().json());
            out.writeEndObject();
        }
        out.writeEndArray();
    }

    private static void function(JsonGenerator out, String name, String arguments) {
        out.writeObjectPropertyStart("function");
        out.writeStringProperty("name", name);
        out.writeStringProperty("arguments", arguments);
        out.writeEndObject();
    }

    private static String delta(Reply reply, Consumer<JsonGenerator> fields) {
        return chunk(reply, out -> {
            out.writeArrayPropertyStart("choices");
            out.writeStartObject();
            out.writeNumberProperty("index", 0);
            out.writeObjectPropertyStart("delta");
            fields.accept(out);
            out.writeEndObject();
            out.writeNullProperty("finish_reason");
            out.writeEndObject();
            out.writeEndArray();
        });
    }

    private static String chunk(Reply reply, Consumer<JsonGenerator> fields) {
        String data = Node.object(out -> {
            head(out, reply, "chat.completion.chunk");
            fields.accept(out);
        });
        return "data: " + data + "\n\n";
    }

    private static void choice(JsonGenerator out, Reply reply, String name, Consumer<JsonGenerator> fields) {
        out.writeArrayPropertyStart("choices");
        out.writeStartObject();
        out.writeNumberProperty("index", 0);
        out.writeObjectPropertyStart(name);
        fields.accept(out);
        out.writeEndObject();
        out.writeStringProperty("finish_reason", reply.step().calls().isEmpty() ? "stop" : "tool_calls");
        out.writeEndObject();
        out.writeEndArray();
    }

    private static void text(JsonGenerator out, String name, String text) {
        if (text.isEmpty()) {
            out.writeNullProperty(name);
        } else {
            out.writeStringProperty(name, text);
        }
    }

    private static void thought(JsonGenerator out, String thinking) {
        if (!thinking.isEmpty()) {
            out.writeStringProperty("reasoning_content", thinking);
        }
    }

    private static void head(JsonGenerator out, Reply reply, String object) {
        out.writeStringProperty("id", reply.id("chatcmpl"));
        out.writeStringProperty("object", object);
        out.writeNumberProperty("created", 1_700_000_000L + reply.number());
        out.writeStringProperty("model", reply.question().model());
    }

    private static void usage(JsonGenerator out, Reply reply) {
        Step.Usage usage = reply.usage();
        out.writeObjectPropertyStart("usage");
        out.writeNumberProperty("prompt_tokens", usage.input());
        out.writeNumberProperty("completion_tokens", usage.output());
        out.writeNumberProperty("total_tokens", usage.input() + usage.output());
        out.writeObjectPropertyStart("prompt_tokens_details");
        out.writeNumberProperty("cached_tokens", usage.cacheRead());
        out.writeEndObject();
        out.writeEndObject();
    }
}
