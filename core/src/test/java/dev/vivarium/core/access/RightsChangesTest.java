package dev.vivarium.core.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.vivarium.core.access.RightsChanges.Change;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RightsChangesTest extends TokensFixture {
    @Test
    void everyTokenRevocationIsPublished() {
        var published = published(tokens.changes());
        var issued = issue("shell");

        tokens.replace(issued.grant(), request("shell"));
        tokens.revoke(BOX, issued.grant().jti());
        tokens.rotate(BOX);
        tokens.forget(BOX);

        assertThat(published).hasSize(4).containsOnly(new Change.OfSandbox(BOX));
    }

    @Test
    void everyKeyRevocationAndSessionEndIsPublished() {
        var keys = Keys.open(db, home, Optional.empty(), clock);
        var sessions = new BrowserSessions(db, keys, clock);
        var published = published(keys.changes());
        sessions.changes().listen(published::add);
        var issued = keys.issue(ANNA);

        sessions.end(sessions.begin(issued.key()).id());
        keys.revoke(issued.keyId());
        keys.revoke(issued.keyId());

        assertThat(published).containsExactly(new Change.OfUser(ANNA), new Change.OfUser(ANNA));
    }

    @Test
    void everyMembershipChangeIsPublished() {
        var members = new Members(db, clock);
        var published = published(members.changes());

        members.invite(THREAD, ANNA, Scopes.ALL);
        members.remove(THREAD, ANNA);
        members.invite(THREAD, ANNA, Scopes.ALL);
        members.removeAll(THREAD);

        assertThat(published).hasSize(4).containsOnly(new Change.OfUser(ANNA));
    }

    @Test
    void replacedTokenExpiresEarlyAndNamesItsSuccessor() {
        var first = issue("shell").grant();
        assertThat(tokens.end(first)).isEqualTo(first.expires());
        assertThat(tokens.successor(first)).isEmpty();

        var second = tokens.replace(first, request("shell")).grant();
        var third = tokens.replace(second, request("shell")).grant();

        assertThat(tokens.end(first)).isBefore(first.expires());
        assertThat(tokens.successor(first)).contains(third);
        tokens.revoke(BOX, third.jti());
        assertThat(tokens.successor(first)).isEmpty();
    }

    @Test
    void expiredOrRotatedSuccessorIsNotReturned() {
        var first = issue("shell").grant();
        tokens.replace(first, request("shell"));
        advance(Duration.ofMinutes(16));
        assertThat(tokens.successor(first)).isEmpty();

        var other = issue("shell").grant();
        tokens.replace(other, request("shell"));
        tokens.rotate(BOX);
        assertThat(tokens.successor(other)).isEmpty();
    }

    private static List<Change> published(RightsChanges changes) {
        var published = new ArrayList<Change>();
        changes.listen(published::add);
        return published;
    }
}
