package dev.vivarium.cli.tty;

import dev.vivarium.json.JsonFields;
import java.util.stream.Collectors;

/// Who is in a shell, as a person reads it. Stateless.
public final class People {
    private People() {}

    /// Those of a message or of an entry of the list: `ann, ben (watcher)`.
    public static String names(JsonFields shell) {
        return shell.objects("people").stream().map(People::name).collect(Collectors.joining(", "));
    }

    private static String name(JsonFields person) {
        boolean types = person.string("role").equals("typist");
        return person.string("user_id") + (types ? "" : " (" + person.string("role") + ")");
    }
}
