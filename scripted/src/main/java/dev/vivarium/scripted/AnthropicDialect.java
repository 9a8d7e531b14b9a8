package dev.vivarium.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Anthropic's Messages API. Stateless.
final class AnthropicDialect implements Dialect {
    /// Signature of thinking blocks. Agents return it and only check that it exists.
    private static final String SIGNATURE = "c2NyaXB0ZWQ=";

    @Override
    public Question read(Node request) {
        return Question.read(
                request,
                Set.of(),
                AnthropicDialect::content,
                tool -> tool.get("name").text());
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
        List<Node> content = blocks(reply).stream().map(Block::whole).toList();
        return message(reply, content, stopReason(reply), reply.usage().output())
                .json();
    }

    @Override
    public List<String> pieces(Reply reply) {
        var pieces = new ArrayList<String>();
        pieces.add(event(typed("message_start").with("message", message(reply, List.of(), null, 1))));
        int index = 0;
        for (Block block : blocks(reply)) {
            block(pieces, block, index++);
        }
        Node end = Node.EMPTY.with("stop_reason", stopReason(reply)).with("stop_sequence", null);
        pieces.add(event(typed("message_delta")
                .with("delta", end)
                .with("usage", usage(reply, reply.usage().output()))));
        pieces.add(event(typed("message_stop")));
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
        return typed("error")
                .with("error", typed(type).with("message", message))
                .json();
    }

    /// Part of an answer: its complete form, its start in a stream, and the deltas that complete it.
    private record Block(Node whole, Node start, List<Node> deltas) {}

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
        var deltas = new ArrayList<>(deltas("thinking_delta", "thinking", thought));
        deltas.add(typed("signature_delta").with("signature", SIGNATURE));
        return new Block(
                typed("thinking").with("thinking", thought).with("signature", SIGNATURE),
                typed("thinking").with("thinking", "").with("signature", ""),
                deltas);
    }

    private static Block text(String words) {
        return new Block(
                typed("text").with("text", words), typed("text").with("text", ""), deltas("text_delta", "text", words));
    }

    private static Block call(Step.Call call, String id) {
        Node start = typed("tool_use").with("id", id).with("name", call.tool());
        return new Block(
                start.with("input", call.input()),
                start.with("input", Node.EMPTY),
                deltas("input_json_delta", "partial_json", call.input().json()));
    }

    private static List<Node> deltas(String type, String field, String text) {
        return Reply.pieces(text).stream()
                .map(piece -> typed(type).with(field, piece))
                .toList();
    }

    private static void block(List<String> pieces, Block block, int index) {
        pieces.add(event(typed("content_block_start").with("index", index).with("content_block", block.start())));
        for (Node delta : block.deltas()) {
            pieces.add(event(typed("content_block_delta").with("index", index).with("delta", delta)));
        }
        pieces.add(event(typed("content_block_stop").with("index", index)));
    }

    private static String event(Node data) {
        return "event: " + data.get("type").text() + "\ndata: " + data.json() + "\n\n";
    }

    private static Node message(Reply reply, List<Node> content, @Nullable String stopReason, long output) {
        return Node.EMPTY
                .with("id", reply.id("msg"))
                .with("type", "message")
                .with("role", "assistant")
                .with("model", reply.question().model())
                .with("content", content)
                .with("stop_reason", stopReason)
                .with("stop_sequence", null)
                .with("usage", usage(reply, output));
    }

    private static Node usage(Reply reply, long output) {
        Step.Usage usage = reply.usage();
        return Node.EMPTY
                .with("input_tokens", usage.input())
                .with("cache_creation_input_tokens", usage.cacheWrite())
                .with("cache_read_input_tokens", usage.cacheRead())
                .with("output_tokens", output);
    }

    private static Node typed(String type) {
        return Node.EMPTY.with("type", type);
    }

    private static String stopReason(Reply reply) {
        return reply.step().calls().isEmpty() ? "end_turn" : "tool_use";
    }
}
