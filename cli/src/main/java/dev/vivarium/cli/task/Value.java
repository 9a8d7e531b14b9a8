package dev.vivarium.cli.task;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/// Value of a YAML file with its line. An empty value is absent, as in the API. Immutable.
sealed interface Value {
    /// Line of the value, or of its key if it has one. The first line is 1.
    int line();

    void write(JsonGenerator out);

    record Text(String value, int line) implements Value {
        @Override
        public void write(JsonGenerator out) {
            out.writeString(value);
        }
    }

    record WholeNumber(long value, int line) implements Value {
        @Override
        public void write(JsonGenerator out) {
            out.writeNumber(value);
        }
    }

    record Decimal(double value, int line) implements Value {
        @Override
        public void write(JsonGenerator out) {
            out.writeNumber(value);
        }
    }

    record Flag(boolean value, int line) implements Value {
        @Override
        public void write(JsonGenerator out) {
            out.writeBoolean(value);
        }
    }

    record Items(List<Value> all, int line) implements Value {
        public Items {
            all = List.copyOf(all);
        }

        @Override
        public void write(JsonGenerator out) {
            out.writeStartArray();
            all.forEach(value -> value.write(out));
            out.writeEndArray();
        }
    }

    /// @param all values by their keys, in the order of the file
    record Fields(Map<String, Value> all, int line) implements Value {
        Optional<Value> find(String name) {
            return Optional.ofNullable(all.get(name));
        }

        /// Returns the text of a field, if it has one.
        Optional<String> text(String name) {
            return all.get(name) instanceof Text text ? Optional.of(text.value()) : Optional.empty();
        }

        /// Returns the texts of a list.
        List<Text> texts(String name) {
            return all.get(name) instanceof Items items
                    ? items.all().stream()
                            .filter(Text.class::isInstance)
                            .map(Text.class::cast)
                            .toList()
                    : List.of();
        }

        @Override
        public void write(JsonGenerator out) {
            out.writeStartObject();
            writeFields(out);
            out.writeEndObject();
        }

        void writeFields(JsonGenerator out) {
            all.forEach((name, value) -> {
                out.writeName(name);
                value.write(out);
            });
        }
    }
}
