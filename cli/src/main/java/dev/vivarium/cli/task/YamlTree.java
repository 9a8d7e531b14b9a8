package dev.vivarium.cli.task;

import dev.vivarium.cli.task.Value.Decimal;
import dev.vivarium.cli.task.Value.Fields;
import dev.vivarium.cli.task.Value.Flag;
import dev.vivarium.cli.task.Value.Items;
import dev.vivarium.cli.task.Value.Text;
import dev.vivarium.cli.task.Value.WholeNumber;
import dev.vivarium.model.SandboxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.Tag;
import org.snakeyaml.engine.v2.resolver.ScalarResolver;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/// Reader of one YAML document. It is the only class of the command line that uses the YAML library, so that other
/// commands do not load it. Confined to one thread.
///
/// It reads the events of the parser and not its objects, because only events have lines for all values.
final class YamlTree {
    private static final int MAX_DEPTH = 32;
    /// An alias counts with all values that it stands for.
    private static final int MAX_VALUES = 200_000;

    private final SourceFile file;
    private final Iterator<Event> events;
    private final ScalarResolver resolver = new CoreSchema().getScalarResolver();
    private final Map<String, Anchored> anchors = new HashMap<>();
    private int values;

    private record Anchored(Optional<Value> value, int values) {}

    private YamlTree(SourceFile file, Iterator<Event> events) {
        this.file = file;
        this.events = events;
    }

    /// Returns the document. Fails with `InvalidRequest` that names the line if the text is not one YAML document.
    static Value read(SourceFile file, String text) {
        try {
            var settings = LoadSettings.builder()
                    .setLabel(file.name())
                    .setCodePointLimit(Math.max(1, text.length()))
                    .build();
            return new YamlTree(file, new Parse(settings).parseString(text).iterator()).document();
        } catch (MarkedYamlEngineException e) {
            throw malformed(file, line(e.getProblemMark()), e.getProblem());
        } catch (YamlEngineException e) {
            throw file.error("is not YAML: " + e.getMessage());
        }
    }

    private static SandboxException malformed(SourceFile file, int line, String problem) {
        return file.error(
                line, "the text", "is not YAML: " + problem.lines().findFirst().orElse(""));
    }

    private Value document() {
        skip(Event.ID.StreamStart);
        if (events.next().getEventId() == Event.ID.StreamEnd) {
            throw file.error("is empty");
        }
        Optional<Value> document = value(events.next(), 0);
        skip(Event.ID.DocumentEnd);
        Event next = events.next();
        if (next.getEventId() != Event.ID.StreamEnd) {
            throw file.error(line(next.getStartMark()), "the file", "must have one document");
        }
        return document.orElseThrow(() -> file.error("is empty"));
    }

    private void skip(Event.ID expected) {
        Event event = events.next();
        if (event.getEventId() != expected) {
            throw malformed(file, line(event.getStartMark()), "expected " + expected);
        }
    }

    /// Returns the value that begins with this event, or nothing for `null`.
    private Optional<Value> value(Event event, int depth) {
        return value(event, line(event.getStartMark()), depth);
    }

    private Optional<Value> value(Event event, int line, int depth) {
        if (depth > MAX_DEPTH) {
            throw file.error(line, "the text", "is nested too deeply; at most " + MAX_DEPTH + " levels are read");
        }
        int before = values;
        count(1, line);
        Optional<Value> value = switch (event) {
            case ScalarEvent scalar -> scalar(scalar, line);
            case SequenceStartEvent _ -> Optional.of(items(line, depth));
            case MappingStartEvent _ -> Optional.of(fields(line, depth));
            case AliasEvent alias -> alias(alias, line);
            default -> throw malformed(file, line, "unexpected " + event.getEventId());
        };
        if (event instanceof NodeEvent node && !(event instanceof AliasEvent)) {
            node.getAnchor().ifPresent(name -> anchors.put(name.getValue(), new Anchored(value, values - before)));
        }
        return value;
    }

    private void count(int more, int line) {
        values += more;
        if (values > MAX_VALUES) {
            throw file.error(line, "the file", "has more than " + MAX_VALUES + " values");
        }
    }

    private Items items(int line, int depth) {
        var all = new ArrayList<Value>();
        for (Event next = events.next(); next.getEventId() != Event.ID.SequenceEnd; next = events.next()) {
            int at = line(next.getStartMark());
            all.add(value(next, depth + 1).orElseThrow(() -> file.error(at, "an entry of a list", "is empty")));
        }
        return new Items(all, line);
    }

    private Fields fields(int line, int depth) {
        var all = new LinkedHashMap<String, Value>();
        var seen = new HashMap<String, Integer>();
        for (Event next = events.next(); next.getEventId() != Event.ID.MappingEnd; next = events.next()) {
            int at = line(next.getStartMark());
            if (!(next instanceof ScalarEvent key)) {
                throw file.error(at, "a key", "must be a word");
            }
            Integer first = seen.putIfAbsent(key.getValue(), at);
            if (first != null) {
                throw file.error(at, key.getValue(), "is given twice, also in line " + first);
            }
            value(events.next(), at, depth + 1).ifPresent(value -> all.put(key.getValue(), value));
        }
        return new Fields(all, line);
    }

    /// An anchor is known after its value, so that no value can contain itself.
    private Optional<Value> alias(AliasEvent event, int line) {
        String name = event.getAlias().getValue();
        Anchored found = anchors.get(name);
        if (found == null) {
            throw file.error(line, "*" + name, "has no anchor &" + name + " before it");
        }
        count(found.values(), line);
        return found.value();
    }

    private Optional<Value> scalar(ScalarEvent event, int line) {
        String text = event.getValue();
        String tag = event.getTag()
                .filter(given -> !given.equals("!"))
                .orElseGet(() -> event.isPlain() ? resolver.resolve(text, true).getValue() : Tag.STR.getValue());
        try {
            return scalar(tag, text, line);
        } catch (NumberFormatException _) {
            throw file.error(line, text, "is not a number of ordinary size");
        }
    }

    private Optional<Value> scalar(String tag, String text, int line) {
        if (tag.equals(Tag.NULL.getValue())) {
            return Optional.empty();
        }
        if (tag.equals(Tag.INT.getValue())) {
            return Optional.of(new WholeNumber(wholeNumber(text), line));
        }
        if (tag.equals(Tag.FLOAT.getValue())) {
            return Optional.of(new Decimal(decimal(text), line));
        }
        if (tag.equals(Tag.BOOL.getValue())) {
            return Optional.of(new Flag(Boolean.parseBoolean(text), line));
        }
        if (tag.equals(Tag.STR.getValue())) {
            return Optional.of(new Text(text, line));
        }
        throw file.error(line, tag, "is not a tag that this command reads");
    }

    private static long wholeNumber(String text) {
        if (text.startsWith("0x")) {
            return Long.parseLong(text.substring(2), 16);
        }
        return text.startsWith("0o") ? Long.parseLong(text.substring(2), 8) : Long.parseLong(text);
    }

    /// The words for infinity and for no number are no JSON.
    private static double decimal(String text) {
        double value = Double.parseDouble(text);
        if (!Double.isFinite(value)) {
            throw new NumberFormatException(text);
        }
        return value;
    }

    private static int line(Optional<Mark> mark) {
        return mark.map(Mark::getLine).orElse(0) + 1;
    }
}
