package dev.vivarium.json;

import dev.vivarium.model.Egress;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// What a sandbox may reach, as requests and answers say it: `{"allow": ["example.com", …]}`. Stateless.
public final class EgressJson {
    private static final String ALLOW = "allow";

    private EgressJson() {}

    /// The object `egress` of a request, if there is one.
    public static Optional<Egress> readOptional(JsonFields fields) {
        return fields.optionalObject("egress").map(egress -> read(egress, "egress." + ALLOW));
    }

    /// The list of an object that holds nothing else.
    public static Egress read(JsonFields fields) {
        return read(fields, ALLOW);
    }

    private static Egress read(JsonFields fields, String name) {
        List<String> texts =
                fields.optionalStrings(ALLOW).orElseThrow(() -> JsonFields.invalid(name, "must be a list of hosts"));
        fields.refuseOthers();
        return Egress.of(name, texts);
    }

    public static void write(JsonGenerator out, Egress egress) {
        out.writeArrayPropertyStart(ALLOW);
        egress.texts().forEach(out::writeString);
        out.writeEndArray();
    }
}
