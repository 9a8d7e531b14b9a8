package dev.vivarium.json;

import dev.vivarium.model.Egress;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// JSON form of an egress allow-list: `{"allow": ["example.com", …]}`. Stateless.
public final class EgressJson {
    private static final String ALLOW = "allow";

    private EgressJson() {}

    /// Reads the object `egress` of a request, if present.
    public static Optional<Egress> readOptional(JsonFields fields) {
        return fields.optionalObject("egress").map(egress -> read(egress, "egress." + ALLOW));
    }

    /// Reads an object with the list as its only field.
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
