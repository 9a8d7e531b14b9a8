package dev.vivarium.json;

import static dev.vivarium.json.JsonType.STRING;
import static dev.vivarium.json.JsonType.list;
import static dev.vivarium.json.ObjectType.field;
import static dev.vivarium.json.ObjectType.object;

import dev.vivarium.model.Egress;
import dev.vivarium.model.SandboxException;
import java.util.List;

/// JSON form of an egress allow-list: `{"allow": ["example.com", …]}`. Stateless.
public final class EgressJson {
    /// The whole object.
    public static final ObjectType<Egress> EGRESS = object(
                    "Egress",
                    field("allow", list(STRING.with("description", """
                                            `example.com`, `*.example.com` or `*`. With `:8443` or `:*` for ports \
                                            other than 80 and 443.""")).with("maxItems", 200), Egress::texts))
            .closed()
            .readBy(EgressJson::read);

    private EgressJson() {}

    private static Egress read(JsonFields fields) {
        String name = fields.place() + "allow";
        List<String> texts = fields.optionalStrings("allow")
                .orElseThrow(() -> SandboxException.invalid(name, "must be a list of hosts"));
        fields.refuseOthers();
        return Egress.of(name, texts);
    }
}
