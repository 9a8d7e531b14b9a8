package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/// The parser accepts or rejects any input, and forwarded output has only one interpretation.
final class HttpReaderFuzzTest {
    private static final int ROUNDS = 200_000;
    private static final List<String> REQUESTS = List.of(
            "GET http://good.test/a?b HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
            "POST http://good.test:81 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
            "POST http://[::1]/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: x\r\n\r\n",
            "CONNECT good.test:443 HTTP/1.1\r\nProxy-Connection: keep-alive\r\n\r\n",
            "GET http://2130706433/ HTTP/1.0\r\nConnection: a, b\r\nA: 1\r\n\r\n");

    @Test
    void mutatedRequestsAreParsedOrRejected() throws IOException {
        int parsed = 0;
        for (int seed = 0; seed < ROUNDS; seed++) {
            var random = new SplittableRandom(seed);
            byte[] bytes = mutated(random, REQUESTS.get(random.nextInt(REQUESTS.size())));
            try {
                Optional<String> passed = forward(bytes);
                parsed += passed.isPresent() ? 1 : 0;
                passed.ifPresent(HttpReaderFuzzTest::assertUnambiguous);
            } catch (Rejection | IllegalArgumentException | EOFException e) {
                assertThat(e).isNotNull();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(parsed).isBetween(ROUNDS / 50, ROUNDS);
    }

    /// Returns the bytes that the proxy would send to the host.
    private static Optional<String> forward(byte[] bytes) throws IOException {
        var source = new HttpReader(new ByteArrayInputStream(bytes));
        Optional<List<String>> lines = source.head();
        if (lines.isEmpty()) {
            return Optional.empty();
        }
        RequestHead head = RequestHead.of(lines.get());
        Destination to = head.destination();
        if (head.isTunnel()) {
            return Optional.empty();
        }
        BodyFraming body = head.body();
        var sent = new ByteArrayOutputStream();
        sent.write(EgressProxy.bytes(new HttpForwarder.Order(head, body, to, List.of()).lines()));
        source.copy(body, body, sent);
        return Optional.of(sent.toString(StandardCharsets.ISO_8859_1));
    }

    /// Asserts that the text is one message with an unambiguous end.
    private static void assertUnambiguous(String sent) {
        String head = sent.substring(0, sent.indexOf("\r\n\r\n"));
        assertThat(head.replace("\r\n", "")).doesNotContain("\r", "\n", "\0");
        assertThat(head.split("\r\n")).allSatisfy(line -> assertThat(line).isNotBlank());
        assertThat(head.split("\r\n")[0]).matches("\\S+ \\S+ HTTP/1\\.1");
        long framings = head.lines()
                .map(line -> line.toLowerCase(java.util.Locale.ROOT))
                .filter(line -> line.startsWith("content-length:") || line.startsWith("transfer-encoding:"))
                .count();
        assertThat(framings).isLessThanOrEqualTo(1);
        assertThat(head.lines().filter(line -> line.startsWith("Host: "))).hasSize(1);
    }

    private static byte[] mutated(SplittableRandom random, String text) {
        var bytes = new StringBuilder(text);
        for (int i = random.nextInt(4); i > 0; i--) {
            int at = random.nextInt(bytes.length());
            String inserted = List.of(
                            "\r\n", "\n", "\r", " ", "\t", ":", "\0", "Content-Length: 1\r\n", "\u00ff", "0", "@", "/")
                    .get(random.nextInt(12));
            switch (random.nextInt(3)) {
                case 0 -> bytes.insert(at, inserted);
                case 1 -> bytes.deleteCharAt(at);
                default -> bytes.setCharAt(at, (char) random.nextInt(256));
            }
        }
        return bytes.toString().getBytes(StandardCharsets.ISO_8859_1);
    }
}
