package dev.vivarium.server.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Blocker;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;

class AuditedResponseTest {
    private final List<Integer> audited = new CopyOnWriteArrayList<>();
    private final CountDownLatch received = new CountDownLatch(1);

    @Test
    void responseIsAuditedOnceBeforeTheClientReceivesIt() throws Exception {
        var server = new Server();
        var connector = new ServerConnector(server);
        server.addConnector(connector);
        server.setHandler(waitsAfterTheResponse());
        server.start();
        try (var client = HttpClient.newHttpClient()) {
            var request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + connector.getLocalPort()))
                    .build();
            var answer = client.send(request, BodyHandlers.ofString());

            assertThat(answer.body()).isEqualTo("x");
            assertThat(audited).containsExactly(200);
        } finally {
            received.countDown();
            server.stop();
        }
        assertThat(audited).containsExactly(200);
    }

    /// Sends the response, and waits until the client has received it.
    private Handler waitsAfterTheResponse() {
        return new Handler.Abstract() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) throws Exception {
                var auditedResponse = new AuditedResponse(request, response);
                auditedResponse.to(audited::add);
                auditedResponse.setStatus(200);
                try (var sent = Blocker.callback()) {
                    auditedResponse.write(true, ByteBuffer.wrap(new byte[] {'x'}), sent);
                    sent.block();
                }
                received.await();
                auditedResponse.recordStatus(500);
                callback.succeeded();
                return true;
            }
        };
    }
}
