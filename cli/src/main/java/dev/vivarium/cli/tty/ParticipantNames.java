package dev.vivarium.cli.tty;

import dev.vivarium.sdk.Shells.Participant;
import java.util.List;
import java.util.stream.Collectors;

/// Text form of the participants of a shell. Stateless.
public final class ParticipantNames {
    private ParticipantNames() {}

    /// For example `ann, ben (watcher)`.
    public static String names(List<Participant> participants) {
        return participants.stream().map(ParticipantNames::name).collect(Collectors.joining(", "));
    }

    private static String name(Participant participant) {
        boolean types = participant.role().equals("typist");
        return participant.user() + (types ? "" : " (" + participant.role() + ")");
    }
}
