package dev.vivarium.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RepositoryTest {
    private static final TaskId TASK = new TaskId("tskaaaaaaaaaaaaaaaaaaaa");

    private static Repository repository(Optional<String> ticket) {
        return new Repository(
                RepositoryUrl.of("https://github.com/team/shop"),
                Optional.empty(),
                Optional.empty(),
                ticket,
                new Repository.Credential.Named("forge"),
                0,
                Optional.empty());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Short title                    | feature/TICKET-456-short-title
            ../../etc/passwd               | feature/TICKET-456-etc-passwd
            Überschrift: größer & schöner! | feature/TICKET-456-uberschrift-groer-schoner
            ???                            | feature/TICKET-456
            """)
    void aBranchHasTheTicketAndTheTitle(String title, String branch) {
        assertThat(repository(Optional.of("TICKET-456")).branchOf(TASK, title).value())
                .isEqualTo(branch);
    }

    @Test
    void aBranchWithoutATicketHasTheIdOfTheTask() {
        assertThat(repository(Optional.empty())
                        .branchOf(TASK, "Do " + "very ".repeat(100))
                        .value())
                .startsWith("feature/tskaaaaaaaaaaaaaaaaaaaa-do-very-")
                .hasSizeLessThan(80);
    }

    @ParameterizedTest
    @ValueSource(strings = {"../x", "a b", "a/b", "", "-x", "a\u0000", "a\nb", "é", "$(id)", ".."})
    void aTicketHasNoPathAndNoControlCharacters(String ticket) {
        assertThatThrownBy(() -> repository(Optional.of(ticket))).isInstanceOf(SandboxException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-a",
                "a..b",
                "a.",
                "a.lock",
                "a.lock/b",
                "a//b",
                "/a",
                "a/",
                "a b",
                "a~1",
                "a^",
                "a:b",
                "a?",
                "a*",
                "a[b",
                "a\\b",
                "@{x",
                "HEAD",
                "refs/heads/a",
                ".a",
                "a/.b",
                "a\u007f",
                "a/b./c",
                "é"
            })
    void branchNamesThatGitRefusesAreRefused(String name) {
        assertThatThrownBy(() -> new BranchName(name)).isInstanceOf(SandboxException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "main",
                "feature/TICKET-456-short-title",
                "release/1.2",
                "a_b",
                "v1.0-rc+1",
                "dependabot/npm/x-1.2.3"
            })
    void ordinaryBranchNamesAreAccepted(String name) {
        assertThat(new BranchName(name).ref()).isEqualTo("refs/heads/" + name);
    }

    @ParameterizedTest
    @CsvSource({
        "https://github.com/team/shop,github.com,shop",
        "https://GitHub.com/team/shop.git,github.com,shop",
        "https://git.example.com:8443/team/shop/,git.example.com:8443,shop",
        "http://127.0.0.1:3000/ada/x.y,127.0.0.1:3000,x.y",
        "https://git.example.com:443/a/b,git.example.com,b",
    })
    void addressesAreParsed(String text, String authority, String name) {
        var url = RepositoryUrl.of(text);
        assertThat(url.authority()).isEqualTo(authority);
        assertThat(url.name()).isEqualTo(name);
        assertThat(RepositoryUrl.of(url.toString())).isEqualTo(url);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "file:///etc/passwd",
                "ssh://git@github.com/a/b",
                "git@github.com:a/b",
                "git://github.com/a/b",
                "/etc",
                "https://user:pw@github.com/a/b",
                "https://token@github.com/a/b",
                "https://github.com/a/../b",
                "https://github.com/a b",
                "https://github.com/a/b#c",
                "https://github.com/a/b?c",
                "https:///a/b",
                "https://github.com:99999/a/b",
                "https://github.com/-x",
                "https://github.com/a/.git",
                "ext::sh -c id",
                "https://github.com\\@evil.test/a",
                "https://exa mple.com/a",
                "https://github.com/a/b\n"
            })
    void otherAddressesAreRefused(String text) {
        assertThatThrownBy(() -> RepositoryUrl.of(text)).isInstanceOf(SandboxException.class);
    }
}
