package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import tools.jackson.core.JsonGenerator;

/// Anthropic's Messages API. Stateless.
final class AnthropicDialect implements Dialect {
    /// Signature of thinking blocks. Agents return it and only check that it exists.
    private static final String SIGNATURE = "c2NyaXB0ZWQ=";

    @Override
    public Question read(Node request) {
        List<Node> messages = request.get("messages").items();
        int spoke = 0;
        for (int i = 0; i < messages.size(); i++) {
            if (messages.get(i).get("role").text().equals("assistant")) {
                spoke = i + 1;
            }
        }
        String news = messages.subList(spoke, messages.size()).stream()
                .map(message -> content(message.get("content")))
                .collect(Collectors.joining("\n"));
        return new Question(
                request.get("model").text(),
                request.get("stream").isTrue(),
                request.get("tools").items().stream()
                        .map(tool -> tool.get("name").text())
                        .collect(Collectors.toUnmodifiableSet()),
                news,
                messages.size(),
                request.json().length());
    }

    /// Reads a text or blocks. The result of a tool can contain blocks again.
    private static String content(Node content) {
        return content.string()
                .orElseGet(() -> content.items().stream()
                        .map(block -> block.get("type").text().equals("tool_result")
                                ? content(block.get("content"))
                                : block.get("text").text())
                        .collect(Collectors.joining("\n")));
    }

    @Override
    public String answer(Reply reply) {
        return Node.object(out -> {
            head(out, reply);
            out.writeArrayPropertyStart("content");
            for (Block block : blocks(reply)) {
                out.writeStartObject();
                block.whole().accept(out);
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeStringProperty("stop_reason", stopReason(reply));
            out.writeNullProperty("stop_sequence");
            usage(out, reply, reply.usage().output());
        });
    }

    @Override
    public List<String> pieces(Reply reply) {
        var pieces = new ArrayList<String>();
        pieces.add(event("message_start", out -> {
            out.writeObjectPropertyStart("message");
            head(out, reply);
            out.writeArrayPropertyStart("content");
            out.writeEndArray();
            out.writeNullProperty("stop_reason");
            out.writeNullProperty("stop_sequence");
            usage(out, reply, 1);
            out.writeEndObject();
        }));
        int index = 0;
        for (Block block : blocks(reply)) {
            block(pieces, block, index++);
        }
        pieces.add(event("message_delta", out -> {
            out.writeObjectPropertyStart("delta");
            out.writeStringProperty("stop_reason", stopReason(reply));
            out.writeNullProperty("stop_sequence");
            out.writeEndObject();
            usage(out, reply, reply.usage().output());
        }));
        pieces.add(event("message_stop", out -> {}));
        return pieces;
    }

    @Override
    public String error(int status, String message) {
        String type = switch (status) {
            case 400 -> "invalid_request_error";
            case 401 -> "authentication_error";
            case 404 -> "not_found_error";
            case 429 -> "rate_limit_error";
            case 529 -> "overloaded_error";
            default -> "api_error";
        };
        return Node.object(out -> {
            out.writeStringProperty("type", "error");
            out.writeObjectPropertyStart("error");
            out.writeStringProperty("type", type);
            out.writeStringProperty("message", message);
            out.writeEndObject();
        });
    }

    /// Part of an answer: its complete form, its start in a stream, and the deltas that complete it.
    private record Block(Consumer<JsonGenerator> whole, Consumer<JsonGenerator> start, List<Delta> deltas) {}

    private record Delta(String type, String field, String text) {}

    private static List<Block> blocks(Reply reply) {
        Step step = reply.step();
        var blocks = new ArrayList<Block>();
        if (!step.thinking().isEmpty()) {
            blocks.add(thinking(step.thinking()));
        }
        if (!step.text().isEmpty() || step.calls().isEmpty()) {
            blocks.add(text(step.text()));
        }
        for (int i = 0; i < step.calls().size(); i++) {
            blocks.add(call(step.calls().get(i), reply.callId("toolu", i)));
        }
        return blocks;
    }

    private static Block thinking(String thought) {
        var deltas = new ArrayList<Delta>();
        Reply.pieces(thought).forEach(piece -> deltas.add(new Delta("thinking_delta", "thinking", piece)));
        deltas.add(new Delta("signature_delta", "signature", SIGNATURE));
        return new Block(thinking(thought, SIGNATURE), thinking("", ""), deltas);
    }

    private static Consumer<JsonGenerator> thinking(String thought, String signature) {
        return out -> {
            out.writeStringProperty("type", "thinking");
            out.writeStringProperty("thinking", thought);
            out.writeStringProperty("signature", signature);
        };
    }

    private static Block text(String words) {
        List<Delta> deltas = Reply.pieces(words).stream()
                .map(piece -> new Delta("text_delta", "text", piece))
                .toList();
        return new Block(words(words), words(""), deltas);
    }

    private static Consumer<JsonGenerator> words(String words) {
        return out -> {
            out.writeStringProperty("type", "text");
            out.writeStringProperty("text", words);
        };
    }

    private static Block call(Step.Call call, String id) {
        List<Delta> deltas = Reply.pieces(call.input().json()).stream()
                .map(piece -> new Delta("input_json_delta", "partial_json", piece))
                .toList();
        return new Block(call(call, id, call.input()), call(call, id, Node.parse("{}")), deltas);
    }

    private static Consumer<JsonGenerator> call(Step.Call call, String id, Node input) {
        return out -> {
            out.writeStringProperty("type", "tool_use");
            out.writeStringProperty("id", id);
            out.writeStringProperty("name", call.tool());
            out.writeName("input");
            input.write(out);
        };
    }

    private static void block(List<String> pieces, Block block, int index) {
        pieces.add(event("content_block_start", out -> {
            out.writeNumberProperty("index", index);
            out.writeObjectPropertyStart("content_block");
            block.start().accept(out);
            out.writeEndObject();
        }));
        for (Delta delta : block.deltas()) {
            pieces.add(event("content_block_delta", out -> {
                out.writeNumberProperty("index", index);
                out.writeObjectPropertyStart("delta");
                out.writeStringProperty("type", delta.type());
                out.writeStringProperty(delta.field(), delta.text());
                out.writeEndObject();
            }));
        }
        pieces.add(event("content_block_stop", out -> out.writeNumberProperty("index", index)));
    }

    private static String event(String name, Consumer<JsonGenerator> fields) {
        String data = Node.object(out -> {
            out.writeStringProperty("type", name);
            fields.accept(out);
        });
        return "event: " + name + "\ndata: " + data + "\n\n";
    }

    private static void head(JsonGenerator out, Reply reply) {
        out.writeStringProperty("id", reply.id("msg"));
        out.writeStringProperty("type", "message");
        out.writeStringProperty("role", "assistant");
        out.writeStringProperty("model", reply.question().model());
    }

    private static void usage(JsonGenerator out, Reply reply, long output) {
        Step.Usage usage = reply.usage();
        out.writeObjectPropertyStart("usage");
        out.writeNumberProperty("input_tokens", usage.input());
        out.writeNumberProperty("cache_creation_input_tokens", usage.cacheWrite());
        out.writeNumberProperty("cache_read_input_tokens", usage.cacheRead());
        out.writeNumberProperty("output_tokens", output);
        out.writeEndObject();
    }

    private static String stopReason(Reply reply) {
        return reply.step().calls().isEmpty() ? "end_turn" : "tool_use";
    }
}
