package dev.vivarium.core.egress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.vivarium.model.Egress;
import dev.vivarium.model.HostName;
import dev.vivarium.model.HostRule;
import dev.vivarium.model.SandboxException;
import java.net.InetAddress;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EgressRulesTest {
    @ParameterizedTest
    @CsvSource({
        "example.com, EXAMPLE.com., 443, true",
        "example.com, example.com, 80, true",
        "example.com, example.com, 8080, false",
        "example.com, www.example.com, 443, false",
        "example.com:8443, example.com, 8443, true",
        "example.com:8443, example.com, 443, false",
        "example.com:*, example.com, 22, true",
        "*.example.com, www.example.com, 443, true",
        "*.example.com, a.b.example.com, 443, true",
        "*.example.com, example.com, 443, false",
        "*.example.com, badexample.com, 443, false",
        "*.example.com, example.com.evil.test, 443, false",
        "*, anything.test, 443, true",
        "*, anything.test, 25, false",
        "*, 93.184.216.34, 443, false",
        "*:*, 93.184.216.34, 443, false",
        "93.184.216.34, 0x5db8d822, 443, true",
        "[2606:4700::1111], [2606:4700:0:0::1111], 443, true"
    })
    void ruleMatchesHostAndPort(String rule, String host, int port, boolean allowed) {
        assertThat(HostRule.of(rule).allows(HostName.of(host), port)).isEqualTo(allowed);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "http://example.com",
                "example.com/path",
                "ex ample.com",
                "a..b",
                "-a.test",
                "*example.com",
                "a.*.test",
                "**",
                "*.1.2.3.4",
                "example.com:",
                "example.com:0",
                "example.com:70000",
                "example.com:80:80",
                "::1",
                "[::1",
                "[zz]",
                "exämple.com",
                "user@example.com",
                "a_b-.test",
                "1.2.3.4.5",
                "example.com\n"
            })
    void invalidRuleIsRejectedWithItsFieldName(String rule) {
        assertThatThrownBy(() -> Egress.of("egress.allow", List.of(rule)))
                .isInstanceOf(SandboxException.class)
                .hasMessageContaining("egress.allow");
    }

    @Test
    void allowListIsLimitedTo200Rules() {
        assertThatThrownBy(() -> Egress.of("egress.allow", Collections.nCopies(201, "a.test")))
                .isInstanceOf(SandboxException.class);
        assertThat(Egress.of("egress.allow", Collections.nCopies(200, "a.test")).texts())
                .containsExactly("a.test");
    }

    @ParameterizedTest
    @CsvSource({
        "*, example.com, true",
        "*, *.example.com, true",
        "*, *, true",
        "*, example.com:8443, false",
        "*, 93.184.216.34, false",
        "*:*, example.com:*, true",
        "*.example.com, a.example.com, true",
        "*.example.com, *.a.example.com, true",
        "*.example.com, *.example.com, true",
        "*.example.com, example.com, false",
        "*.example.com, *, false",
        "example.com, example.com:443, true",
        "example.com:443, example.com, false",
        "example.com, *.example.com, false"
    })
    void rulesBeyondTheLimitAreFound(String limitRule, String wanted, boolean within) {
        var limit = Egress.of("most", List.of(limitRule));
        assertThat(Egress.of("allow", List.of(wanted)).findBeyond(limit).isEmpty())
                .isEqualTo(within);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"93.184.216.34", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "223.255.255.255"})
    void publicAddressesArePermitted(String address) {
        assertThat(new AddressPolicy(List.of()).permits(InetAddress.ofLiteral(address)))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"2606:4700::1111", "2a00:1450:4001::200e", "2001:4860:4860::8888"})
    void publicIpv6AddressesArePermitted(String address) {
        assertThat(new AddressPolicy(List.of()).permits(InetAddress.ofLiteral(address)))
                .isTrue();
    }

    @Test
    void operatorBlocksPermitExactlyTheirAddresses() {
        var policy = new AddressPolicy(List.of(
                AddressBlock.of("10.1.0.0/23"), AddressBlock.of("255.255.255.255/32"), AddressBlock.of("fd00::/8")));
        assertThat(policy.permits(InetAddress.ofLiteral("10.1.1.255"))).isTrue();
        assertThat(policy.permits(InetAddress.ofLiteral("10.1.2.0"))).isFalse();
        assertThat(policy.permits(InetAddress.ofLiteral("255.255.255.255"))).isTrue();
        assertThat(policy.permits(InetAddress.ofLiteral("255.255.255.254"))).isFalse();
        assertThat(policy.permits(InetAddress.ofLiteral("fd00:ec2::254"))).isTrue();
        assertThat(policy.permits(InetAddress.ofLiteral("fe00::1"))).isFalse();
    }

    @Test
    void credentialHidesItsValueAndRejectsProxyHeaders() {
        var host = HostName.of("api.example.com");
        assertThat(new Credential(host, 443, "Authorization", "Bearer s3cret").toString())
                .doesNotContain("s3cret");
        for (String header : List.of("Host", "Content-Length", "Connection", "Transfer-Encoding", "A B", "X\r\nY")) {
            assertThatThrownBy(() -> new Credential(host, 443, header, "x"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new Credential(host, 443, "X-Key", "a\r\nb: c"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("b: c");
    }
}
