package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Destinations that programs may reach: the allow-list decides first, then the resolved address.
@Timeout(300)
final class DestinationsTest extends EgressFixture {
    @Test
    void hostOffTheAllowListIsRefusedWithoutALookup() throws Exception {
        allow("good.test", "*.wild.test");
        for (String target : List.of(
                "evil.test:443", "good.test.evil.test:443", "wild.test:443", "xwild.test:443", "good.test:22")) {
            String answer = exchange("CONNECT " + target + " HTTP/1.1\r\n\r\n");
            assertThat(answer).startsWith("HTTP/1.1 403 Host Not On The Egress Allow-List\r\n");
            assertThat(answer).contains(target + " is not on the allow-list").contains("/egress");
            EgressRecord egressRecord = egressRecords.take();
            assertThat(egressRecord.verdict()).isEqualTo(EgressRecord.Verdict.HOST_REFUSED);
            assertThat(egressRecord.host() + ":" + egressRecord.port()).isEqualTo(target);
        }
        assertThat(lookups).isEmpty();
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
    void wildcardRuleDoesNotAllowIpAddresses(String spelling) throws Exception {
        allow("*:*");
        assertThat(exchange("CONNECT " + spelling + ":80 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(exchange("GET http://" + spelling + "/ HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.HOST_REFUSED);
        assertThat(lookups).isEmpty();
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
    void nameThatResolvesToAPrivateAddressIsRefused(String address) throws Exception {
        names.put("good.test", List.of(InetAddress.ofLiteral(address)));
        allow("good.test");
        String answer = exchange("CONNECT good.test:443 HTTP/1.1\r\n\r\n");
        assertThat(answer).startsWith("HTTP/1.1 403 Address Not Public\r\n").doesNotContain(address);
        assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.ADDRESS_REFUSED);
    }

    @Test
    void proxyConnectsToAPermittedAddressAndResolvesOnce() throws Exception {
        try (var outside = OutsideHost.answering("HTTP/1.1 204 No Content\r\n\r\n")) {
            names.put("good.test", List.of(InetAddress.ofLiteral("10.0.0.1"), LOOPBACK));
            allow("good.test:" + outside.port());
            assertThat(exchange("GET http://good.test:" + outside.port() + "/ HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 204 ");
            assertThat(lookups).containsExactly("good.test");
            assertThat(egressRecords.take().address()).isEqualTo("127.0.0.1");
        }
    }

    @Test
    void loopbackIsRefusedUnlessTheOperatorPermitsIt() throws Exception {
        open(List.of(), 8);
        allow("good.test", "localhost", "127.0.0.1:80");
        names.put("localhost", List.of(LOOPBACK));
        for (String host : List.of("good.test", "localhost", "127.0.0.1")) {
            assertThat(exchange("CONNECT " + host + ":80 HTTP/1.1\r\n\r\n"))
                    .startsWith("HTTP/1.1 403 Address Not Public");
        }
    }

    @Test
    void unresolvedNameAndClosedPortReturn502() throws Exception {
        int free;
        try (var outside = OutsideHost.answering("")) {
            free = outside.port();
        }
        allow("gone.test", "good.test:" + free);
        assertThat(exchange("CONNECT gone.test:443 HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 502 Host Not Found");
        assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.UNRESOLVED);
        assertThat(exchange("CONNECT good.test:" + free + " HTTP/1.1\r\n\r\n")).startsWith("HTTP/1.1 502 ");
        assertThat(egressRecords.take().verdict()).isEqualTo(EgressRecord.Verdict.UNREACHABLE);
    }
}
