package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.vivarium.core.guest.RealGuest;
import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A real guest carries connections out; names lead where the test says, and every question for one is written down.
@Timeout(60)
final class OutletTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final Map<String, List<InetAddress>> names = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final BlockingQueue<Passage> passages = new LinkedBlockingQueue<>();
    private RealGuest real;
    private Gateway gateway;
    private Outlet outlet;

    @BeforeEach
    void start() {
        real = RealGuest.start();
        names.put("good.test", List.of(LOOPBACK));
        open(List.of("127.0.0.1/32"), 128);
    }

    private void open(List<String> permitted, int connections) {
        gateway = new Gateway(new EgressConfig(
                Egress.NONE,
                Egress.of("most", List.of("*:*", "127.0.0.1:80")),
                permitted.stream().map(AddressBlock::of).toList(),
                List.of(),
                connections,
                this::resolve,
                EgressConfig::systemTls));
        outlet = new Outlet(SandboxId.random(new SecureRandom()), gateway, Egress.NONE, passages::add);
    }

    private List<InetAddress> resolve(String name) throws UnknownHostException {
        asked.add(name);
        return Optional.ofNullable(names.get(name)).orElseThrow(() -> new UnknownHostException(name));
    }

    @AfterEach
    void stop() {
        gateway.close();
        real.close();
    }

    @Test
    void nothingListensAndNothingIsSetUntilSomethingIsAllowed() {
        outlet.attach(real.guest());
        assertThat(outlet.env()).isEmpty();
        allow("good.test");
        assertThat(outlet.env())
                .containsKeys("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY")
                .containsEntry("NO_PROXY", "localhost,127.0.0.1,::1");
        int port = port();
        allow();
        assertThat(outlet.env()).isEmpty();
        await().until(() -> !canConnect(port));
    }

    @Test
    void aRequestInTheClearIsWrittenAnewAndItsAnswerToo() throws Exception {
        try (var outside = Outside.answering(
                "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-Kept: yes\r\nConnection: keep-alive, x-hop\r\n"
                        + "X-Hop: no\r\nKeep-Alive: timeout=5\r\n\r\nhello")) {
            allow("good.test:" + outside.port());
            String answer = say("GET http://GOOD.test.:" + outside.port() + "?q=1 HTTP/1.1\r\nHost: evil.test\r\n"
                    + "Proxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\n"
                    + "Connection: close, X-Mine\r\nX-Mine: 1\r\nAccept: */*\r\n\r\n");
            assertThat(answer)
                    .isEqualTo(
                            "HTTP/1.1 200 Fine\r\nX-Kept: yes\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
            assertThat(outside.request())
                    .isEqualTo("GET /?q=1 HTTP/1.1\r\nHost: good.test:" + outside.port()
                            + "\r\nAccept: */*\r\nConnection: close\r\n\r\n");
            Passage passage = passages.take();
            assertThat(passage.host()).isEqualTo("good.test");
            assertThat(passage.port()).isEqualTo(outside.port());
            assertThat(passage.address()).isEqualTo("127.0.0.1");
            assertThat(passage.verdict()).isEqualTo(Passage.Verdict.ALLOWED);
            assertThat(passage.status()).isEqualTo(200);
            assertThat(passage.down()).isEqualTo(answer.length());
            assertThat(passage.up()).isPositive();
        }
    }

    @Test
    void aTunnelCarriesBothWaysAndEachWayEndsByItself() throws Exception {
        var data = new byte[2_000_000];
        new Random(3).nextBytes(data);
        data[0] = 'x';
        try (var outside = Outside.doing((socket, _) -> {
            byte[] all = socket.getInputStream().readAllBytes();
            socket.getOutputStream().write(all);
        })) {
            allow("good.test:" + outside.port());
            try (var client = connect()) {
                send(client, "CONNECT good.test:" + outside.port() + " HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(line(client)).isEqualTo("HTTP/1.1 200 Connection Established");
                assertThat(line(client)).isEmpty();
                client.getOutputStream().write(data);
                client.shutdownOutput();
                assertThat(client.getInputStream().readAllBytes()).isEqualTo(data);
            }
            Passage passage = passages.take();
            assertThat(passage.method()).isEqualTo("CONNECT");
            assertThat(passage.up()).isGreaterThan(data.length);
            assertThat(passage.down()).isGreaterThan(data.length);
        }
    }

    @Test
    void aHostThatIsNotOnTheListIsRefusedAndNeverResolved() throws Exception {
        allow("good.test", "*.wild.test");
        for (String target : List.of(
                "evil.test:443", "good.test.evil.test:443", "wild.test:443", "xwild.test:443", "good.test:22")) {
            String answer = say("CONNECT " + target + " HTTP/1.1\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 403 Host Not On The Egress Allow-List\r\n");
            assertThat(answer).contains(target + " is not on the allow-list").contains("/egress");
            Passage passage = passages.take();
            assertThat(passage.verdict()).isEqualTo(Passage.Verdict.HOST_REFUSED);
            assertThat(passage.host() + ":" + passage.port()).isEqualTo(target);
        }
        assertThat(asked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "127.0.0.1",
                "2130706433",
                "0x7f.1",
                "0177.0.0.1",
                "127.1",
                "[::1]",
                "[::ffff:127.0.0.1]",
                "[::ffff:7f00:1]",
                "169.254.169.254",
                "[fd00:ec2::254]",
                "0",
                "[64:ff9b::7f00:1]",
                "127.0.0.1."
            })
    void anAddressIsNoName(String spelling) throws Exception {
        allow("*:*");
        assertThat(say("CONNECT " + spelling + ":80 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(say("GET http://" + spelling + "/ HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.HOST_REFUSED);
        assertThat(asked).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "10.1.2.3",
                "172.31.255.255",
                "192.168.0.1",
                "100.64.0.1",
                "100.100.100.200",
                "169.254.169.254",
                "127.0.0.2",
                "0.0.0.0",
                "224.0.0.1",
                "255.255.255.255",
                "192.0.0.192",
                "168.63.129.16",
                "::1",
                "::",
                "fe80::1",
                "fd00:ec2::254",
                "ff02::1",
                "64:ff9b::a9fe:a9fe",
                "2002:7f00:1::",
                "2001:0:1::1",
                "::127.0.0.1",
                "fec0::1"
            })
    void aNameThatLeadsInsideIsRefusedAfterResolution(String address) throws Exception {
        names.put("good.test", List.of(InetAddress.ofLiteral(address)));
        allow("good.test");
        String answer = say("CONNECT good.test:443 HTTP/1.1\r\n\r\n");
        assertThat(answer).startsWith("HTTP/1.1 403 Address Not Public\r\n").doesNotContain(address);
        assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.ADDRESS_REFUSED);
    }

    @Test
    void ofSeveralAddressesOnlyAPermittedOneIsConnectedToAndTheNameIsAskedForOnce() throws Exception {
        try (var outside = Outside.answering("HTTP/1.1 204 No Content\r\n\r\n")) {
            names.put("good.test", List.of(InetAddress.ofLiteral("10.0.0.1"), LOOPBACK));
            allow("good.test:" + outside.port());
            assertThat(say("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 204 ");
            assertThat(asked).containsExactly("good.test");
            assertThat(passages.take().address()).isEqualTo("127.0.0.1");
        }
    }

    @Test
    void loopbackItselfIsOutOfReachUnlessTheOperatorPermitsIt() throws Exception {
        open(List.of(), 8);
        allow("good.test", "localhost", "127.0.0.1:80");
        names.put("localhost", List.of(LOOPBACK));
        for (String host : List.of("good.test", "localhost", "127.0.0.1")) {
            assertThat(say("CONNECT " + host + ":80 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 403 Address Not Public");
        }
    }

    @Test
    void aNameWithoutAnAddressAndAPortWhereNobodyListensAreGatewayErrors() throws Exception {
        int free;
        try (var outside = Outside.answering("")) {
            free = outside.port();
        }
        allow("gone.test", "good.test:" + free);
        assertThat(say("CONNECT gone.test:443 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 502 Host Not Found");
        assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.UNRESOLVED);
        assertThat(say("CONNECT good.test:" + free + " HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 502 ");
        assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.UNREACHABLE);
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
    void whatTwoReadersCouldUnderstandDifferentlyIsRefused(String request) throws Exception {
        allow("*:*");
        assertThat(say(request)).startsWith("HTTP/1.1 400 Bad Request\r\n");
        Passage passage = passages.take();
        assertThat(passage.verdict()).isEqualTo(Passage.Verdict.MALFORMED);
        assertThat(passage.status()).isEqualTo(400);
        assertThat(asked).isEmpty();
    }

    @Test
    void headersWithoutEndAreRefused() throws Exception {
        allow("good.test");
        assertThat(say("GET http://good.test/ HTTP/1.1\r\nA: " + "a".repeat(70_000)))
                .startsWith("HTTP/1.1 400 ")
                .contains("64 KiB");
    }

    @Test
    void aSecondRequestBehindTheFirstGoesNowhere() throws Exception {
        try (var outside = Outside.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            allow("good.test:" + outside.port());
            String url = "http://good.test:" + outside.port();
            say("POST " + url + "/1 HTTP/1.1\r\nContent-Length: 4\r\n\r\nbodyGET " + url + "/2 HTTP/1.1\r\n\r\n");
            assertThat(outside.request()).startsWith("POST /1 ");
            assertThat(outside.requests()).isZero();
        }
    }

    @Test
    void aBodyInChunksIsReadAndCutAnew() throws Exception {
        var body = new LinkedBlockingQueue<String>();
        try (var outside = Outside.doing((socket, self) -> {
            self.head(socket);
            body.add(self.head(socket));
            socket.getOutputStream()
                    .write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
        })) {
            allow("good.test:" + outside.port());
            String answer = say("POST http://good.test:" + outside.port() + "/ HTTP/1.1\r\n"
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
    void aBrokenChunkNeverBecomesAWholeRequest() throws Exception {
        var rest = new LinkedBlockingQueue<String>();
        try (var outside = Outside.doing((socket, self) -> {
            self.head(socket);
            rest.add(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII));
        })) {
            allow("good.test:" + outside.port());
            String answer = say("POST http://good.test:" + outside.port()
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
    void anAnswerThatCannotBeReadIsABadGateway(String answer) throws Exception {
        try (var outside = Outside.answering(answer)) {
            allow("good.test:" + outside.port());
            assertThat(say("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 502 ");
            assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.UNREACHABLE);
        }
    }

    @Test
    void anAnswerThatIsCutShortDoesNotLookWhole() throws Exception {
        try (var outside = Outside.answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")) {
            allow("good.test:" + outside.port());
            assertThat(say("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 OK")
                    .doesNotEndWith("0\r\n\r\n");
        }
    }

    @Test
    void theLengthOfWhatHeadAsksForIsTold() throws Exception {
        try (var outside = Outside.answering("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n")) {
            allow("good.test:" + outside.port());
            assertThat(say("HEAD http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .isEqualTo("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nConnection: close\r\n\r\n");
        }
    }

    @Test
    void anAnswerWaitsForAProgramThatDoesNotRead() throws Exception {
        var sent = new java.util.concurrent.atomic.AtomicLong();
        try (var outside = Outside.doing((socket, self) -> {
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
                // It stands still when every buffer on the way is full, and none of them grows.
                var last = new java.util.concurrent.atomic.AtomicLong();
                await().during(Duration.ofMillis(500))
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> {
                            long now = sent.get();
                            return now > 0 && last.getAndSet(now) == now;
                        });
                assertThat(sent.get()).isLessThan(64 << 20);
                assertThat(client.getInputStream().readNBytes(1 << 20)).hasSize(1 << 20);
            }
        }
    }

    @Test
    void changingTheListCutsWhatIsNoLongerOnIt() throws Exception {
        names.put("other.test", List.of(LOOPBACK));
        try (var outside = Outside.doing((socket, _) -> socket.getInputStream().transferTo(socket.getOutputStream()))) {
            int port = outside.port();
            allow("good.test:" + port, "other.test:" + port);
            try (var leaving = tunnel("good.test:" + port);
                    var staying = tunnel("other.test:" + port)) {
                allow("other.test:" + port);
                assertThat(leaving.getInputStream().read()).isEqualTo(-1);
                assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.CUT);
                staying.getOutputStream().write('x');
                assertThat(staying.getInputStream().read()).isEqualTo('x');
                outlet.cut();
                assertThat(staying.getInputStream().read()).isEqualTo(-1);
            }
        }
    }

    @Test
    void beyondTheLimitConnectionsWaitForTheirTurn() throws Exception {
        open(List.of("127.0.0.1/32"), 4);
        var together = new java.util.concurrent.atomic.AtomicInteger();
        var most = new java.util.concurrent.atomic.AtomicInteger();
        try (var outside = Outside.doing((socket, _) -> {
            most.accumulateAndGet(together.incrementAndGet(), Math::max);
            socket.getInputStream().transferTo(socket.getOutputStream());
            together.decrementAndGet();
        })) {
            allow("good.test:" + outside.port());
            var clients = new ArrayList<Thread>();
            var echoed = new java.util.concurrent.atomic.AtomicInteger();
            for (int i = 0; i < 40; i++) {
                clients.add(Thread.ofVirtual().start(() -> {
                    try (var client = tunnel("good.test:" + outside.port())) {
                        client.getOutputStream().write('x');
                        echoed.addAndGet(client.getInputStream().read() == 'x' ? 1 : 0);
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                }));
            }
            for (Thread client : clients) {
                client.join();
            }
            assertThat(echoed).hasValue(40);
            assertThat(most.get()).isLessThanOrEqualTo(4);
        }
    }

    @Test
    void afterTheStreamBrokeTheSamePortLeadsOutAgain() throws Exception {
        try (var outside = Outside.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")) {
            allow("good.test:" + outside.port());
            int port = port();
            real.guest().close();
            outlet.attach(real.accept());
            assertThat(port()).isEqualTo(port);
            assertThat(say("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .endsWith("ok");
        }
    }

    @Test
    void insideATunnelNoOtherHostCanBeNamed() throws Exception {
        try (var outside = Outside.doing((socket, self) -> self.head(socket))) {
            allow("good.test:" + outside.port());
            for (String name : List.of("evil.test", "good.test.evil.test")) {
                try (var client = tunnel("good.test:" + outside.port())) {
                    client.getOutputStream().write(ServerNameTest.clientHello(name));
                    assertThat(client.getInputStream().read()).isEqualTo(-1);
                }
                assertThat(passages.take().verdict()).isEqualTo(Passage.Verdict.NAME_REFUSED);
                assertThat(outside.request()).isEmpty();
            }
            byte[] hello = ServerNameTest.clientHello("good.test");
            try (var client = tunnel("good.test:" + outside.port())) {
                // Byte by byte, as one who hopes to be overlooked would.
                for (byte b : hello) {
                    client.getOutputStream().write(b);
                    client.getOutputStream().flush();
                }
                client.shutdownOutput();
                assertThat(outside.request().getBytes(StandardCharsets.ISO_8859_1))
                        .isEqualTo(hello);
            }
        }
    }

    private void allow(String... rules) {
        outlet.allow(Egress.of("egress", Arrays.asList(rules)), Optional.of(real.guest()), () -> {});
    }

    private int port() {
        return Integer.parseInt(outlet.env().get("http_proxy").replaceAll(".*:", ""));
    }

    private Socket connect() throws IOException {
        return new Socket(LOOPBACK, port());
    }

    private Socket tunnel(String target) throws IOException {
        var client = connect();
        send(client, "CONNECT " + target + " HTTP/1.1\r\n\r\n");
        assertThat(line(client)).endsWith("200 Connection Established");
        assertThat(line(client)).isEmpty();
        return client;
    }

    /// Sends the bytes and returns everything that comes back.
    private String say(String request) throws IOException {
        try (var client = connect()) {
            send(client, request);
            return new String(client.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String line(Socket client) throws IOException {
        var line = new StringBuilder();
        for (int c; (c = client.getInputStream().read()) >= 0 && c != '\n'; ) {
            line.append((char) c);
        }
        return line.toString().strip();
    }

    private static boolean canConnect(int port) {
        try (var client = new Socket(LOOPBACK, port)) {
            return client.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
