package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Plain-text requests and their responses.
@Timeout(300)
final class HttpForwarderTest extends EgressFixture {
    @Test
    void requestAndResponseHeadersAreRewritten() throws Exception {
        try (var outside = OutsideHost.answering(
                "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-Kept: yes\r\nConnection: keep-alive, x-hop\r\n"
                        + "X-Hop: no\r\nKeep-Alive: timeout=5\r\n\r\nhello")) {
            allow("good.test:" + outside.port());
            String answer = exchange("GET http://GOOD.test.:" + outside.port() + "?q=1 HTTP/1.1\r\nHost: evil.test\r\n"
                    + "Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n"
                    + "Connection: close, X-Mine\r\nX-Mine: 1\r\nAccept: */*\r\n\r\n");
            assertThat(answer)
                    .isEqualTo(
                            "HTTP/1.1 200 Fine\r\nX-Kept: yes\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
            assertThat(outside.request())
                    .isEqualTo("GET /?q=1 HTTP/1.1\r\nHost: good.test:" + outside.port()
                            + "\r\nAccept: */*\r\nConnection: close\r\n\r\n");
            EgressRecord egressRecord = egressRecords.take();
            assertThat(egressRecord.host()).isEqualTo("good.test");
            assertThat(egressRecord.port()).isEqualTo(outside.port());
            assertThat(egressRecord.address()).isEqualTo("127.0.0.1");
            assertThat(egressRecord.verdict()).isEqualTo(EgressRecord.Verdict.ALLOWED);
            assertThat(egressRecord.status()).isEqualTo(200);
            assertThat(egressRecord.down()).isEqualTo(answer.length());
            assertThat(egressRecord.up()).isPositive();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET / HTTP/1.1\r\nHost: good.test\r\n\r\n",
                "GET https://good.test/ HTTP/1.1\r\n\r\n",
                "GET ftp://good.test/ HTTP/1.1\r\n\r\n",
                "GET http://user:pw@good.test/ HTTP/1.1\r\n\r\n",
                "GET http://good.test@evil.test/ HTTP/1.1\r\n\r\n",
                "GET http://good.test#@evil.test/ HTTP/1.1\r\n\r\n",
                "GET http://good.test\\@evil.test/ HTTP/1.1\r\n\r\n",
                "GET http://good.test:80:81/ HTTP/1.1\r\n\r\n",
                "GET http://good.test:0/ HTTP/1.1\r\n\r\n",
                "GET http://good.test:99999/ HTTP/1.1\r\n\r\n",
                "GET http:///path HTTP/1.1\r\n\r\n",
                "GET http://[::1%25eth0]/ HTTP/1.1\r\n\r\n",
                "GET http://good_.t\u00e9st/ HTTP/1.1\r\n\r\n",
                "GET  http://good.test/ HTTP/1.1\r\n\r\n",
                "GET http://good.test/ HTTP/1.1 \r\n\r\n",
                "GET http://good.test/ HTTP/2.0\r\n\r\n",
                "GET http://good.test/\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\nHost: x\n\n",
                "GET http://good.test/ HTTP/1.1\r\nA: b\nc: d\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\nA: b\rc: d\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\nA : b\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\n A: b\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\nA: b\u0000\r\n\r\n",
                "GET http://good.test/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n",
                "POST http://good.test/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
                "POST http://good.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                "TRACE http://good.test/ HTTP/1.1\r\n\r\n",
                "CONNECT good.test HTTP/1.1\r\n\r\n",
                "CONNECT http://good.test/ HTTP/1.1\r\n\r\n",
                "CONNECT good.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
                "\u0016\u0003\u0001\r\n\r\n",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
            })
    void ambiguousRequestIsRejected(String request) throws Exception {
        allow("*:*");
        assertThat(exchange(request)).startsWith("HTTP/1.1 400 Bad Request\r\n");
        EgressRecord egressRecord = egressRecords.take();
        assertThat(egressRecord.verdict()).isEqualTo(EgressRecord.Verdict.MALFORMED);
        assertThat(egressRecord.status()).isEqualTo(400);
        assertThat(lookups).isEmpty();
    }

    @Test
    void oversizedHeadersAreRejected() throws Exception {
        allow("good.test");
        assertThat(exchange("GET http://good.test/ HTTP/1.1\r\nA: " + "a".repeat(70_000)))
                .startsWith("HTTP/1.1 400 ")
                .contains("64 KiB");
    }

    @Test
    void pipelinedRequestIsNotForwarded() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            allow("good.test:" + outside.port());
            String url = "http://good.test:" + outside.port();
            exchange("POST " + url + "/1 HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET " + url + "/2 HTTP/1.1\r\n\r\n");
            assertThat(outside.request()).startsWith("POST /1 ");
            assertThat(outside.requests()).isZero();
        }
    }

    @Test
    void chunkedBodyIsReencoded() throws Exception {
        var body = new LinkedBlockingQueue<String>();
        try (var outside = OutsideHost.doing((socket, self) -> {
            self.head(socket);
            body.add(self.head(socket));
            socket.getOutputStream()
                    .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
        })) {
            allow("good.test:" + outside.port());
            String answer = exchange("POST http://good.test:" + outside.port() + "/ HTTP/1.1\r\n"
                    + "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "2;ext=\"a\"\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n");
            assertThat(outside.request())
                    .contains("Transfer-Encoding: chunked\r\n")
                    .doesNotContain("Expect");
            assertThat(body.take()).isEqualTo("2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
            assertThat(answer)
                    .isEqualTo("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                            + "Connection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
        }
    }

    @Test
    void malformedChunkNeverCompletesARequest() throws Exception {
        var rest = new LinkedBlockingQueue<String>();
        try (var outside = OutsideHost.doing((socket, self) -> {
            self.head(socket);
            rest.add(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
        })) {
            allow("good.test:" + outside.port());
            String answer = exchange("POST http://good.test:" + outside.port()
                    + "/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n");
            assertThat(rest.take()).doesNotContain("0\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 400 ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 200 OK\r\n",
                "HTTP/2 200\r\n\r\n",
                "200 OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX: a\nSet-Cookie: b\r\n\r\n",
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
                "HTTP/1.1 999 Odd\r\n\r\n"
            })
    void unparsableResponseReturns502(String answer) throws Exception {
        try (var outside = OutsideHost.answering(answer)) {
            allow("good.test:" + outside.port());
            assertThat(exchange("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 502 ");
            assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.UNREACHABLE);
        }
    }

    @Test
    void truncatedResponseStaysIncomplete() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")) {
            allow("good.test:" + outside.port());
            assertThat(exchange("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 OK")
                    .doesNotEndWith("0\r\n\r\n");
        }
    }

    @Test
    void headResponseKeepsItsContentLength() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")) {
            allow("good.test:" + outside.port());
            assertThat(exchange("HEAD http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .isEqualTo("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nConnection: close\r\n\r\n");
        }
    }

    @Test
    void responseIsThrottledByASlowReader() throws Exception {
        var sent = new java.util.concurrent.atomic.AtomicLong();
        try (var outside = OutsideHost.doing((socket, self) -> {
            self.head(socket);
            socket.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            var piece = new byte[65_536];
            while (true) {
                socket.getOutputStream().write(piece);
                sent.addAndGet(piece.length);
            }
        })) {
            allow("good.test:" + outside.port());
            try (var client = connect()) {
                send(client, "GET http://good.test:" + outside.port() + "/ HTTP/1.0\r\n\r\n");
                // The sender stops when every buffer on the path is full. No buffer grows.
                var last = new java.util.concurrent.atomic.AtomicLong();
                await().during(Duration.ofMillis(500))
                        .atMost(Duration.ofMinutes(2))
                        .until(() -> {
                            long now = sent.get();
                            return now > 0 && last.getAndSet(now) == now;
                        });
                assertThat(sent.get()).isLessThan(64 << 20);
                assertThat(client.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
            }
        }
    }
}
