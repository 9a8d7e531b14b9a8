package dev.vivarium.server.http;

import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HostHeaderCustomizer;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;

/// Protocols of the port: HTTP/1.1 and HTTP/2, over TLS or in the clear. Stateless.
final class Protocols {
    private static final int MAX_STREAMS = 128;

    private Protocols() {}

    static List<ConnectionFactory> of(HttpConfiguration http, Optional<SslContextFactory.Server> tls) {
        return tls.map(context -> overTls(http, context)).orElseGet(() -> inTheClear(http));
    }

    /// Clients choose the protocol by ALPN.
    private static List<ConnectionFactory> overTls(HttpConfiguration http, SslContextFactory.Server tls) {
        var secure = new HttpConfiguration(http);
        // Clients check the name of the certificate. The server has one certificate for all names.
        secure.addCustomizer(new SecureRequestCustomizer(false));
        var alpn = new ALPNServerConnectionFactory();
        alpn.setDefaultProtocol(HttpVersion.HTTP_1_1.asString());
        return List.of(
                new SslConnectionFactory(tls, alpn.getProtocol()),
                alpn,
                limited(new HTTP2ServerConnectionFactory(http2(secure))),
                new HttpConnectionFactory(secure));
    }

    private static List<ConnectionFactory> inTheClear(HttpConfiguration http) {
        return List.of(new HttpConnectionFactory(http), limited(new PriorKnowledge(http2(http))));
    }

    /// HTTP/2 requests have `:authority` in place of `Host`.
    private static HttpConfiguration http2(HttpConfiguration http) {
        var with = new HttpConfiguration(http);
        with.addCustomizer(new HostHeaderCustomizer());
        return with;
    }

    private static ConnectionFactory limited(AbstractHTTP2ServerConnectionFactory factory) {
        factory.setMaxConcurrentStreams(MAX_STREAMS);
        // Browsers then open WebSockets on a connection of their own.
        factory.setConnectProtocolEnabled(false);
        return factory;
    }

    /// HTTP/2 in the clear, for clients that start with it. The upgrade from HTTP/1.1 is obsolete (RFC 9113, 3.1),
    /// and some clients request it for every first request.
    private static final class PriorKnowledge extends HTTP2CServerConnectionFactory {
        PriorKnowledge(HttpConfiguration http) {
            super(http);
        }

        @Override
        public @Nullable Connection upgradeConnection(
                Connector connector, EndPoint endPoint, MetaData.Request request, HttpFields.Mutable response101) {
            return HttpMethod.PRI.is(request.getMethod())
                    ? super.upgradeConnection(connector, endPoint, request, response101)
                    : null;
        }
    }
}
