package dev.vivarium.core.guest;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/// Golden frame: its bytes, and the text that describes them.
record Golden(String name, byte[] bytes, int channel, Kind kind, List<Field> fields) {
    private static final Path FOLDER = Path.of("../protocol/golden/gen-1");

    record Field(String type, String name, String value) {
        long number() {
            return type.equals("u64") ? Long.parseUnsignedLong(value) : Long.parseLong(value);
        }

        byte[] bytes() {
            return value.startsWith("hex:")
                    ? HexFormat.of().parseHex(value.substring("hex:".length()))
                    : value.substring("text:".length()).getBytes(StandardCharsets.UTF_8);
        }

        void write(Payload payload) {
            switch (type) {
                case "u8" -> payload.u8((int) number());
                case "u16" -> payload.u16((int) number());
                case "u32", "i32", "count" -> payload.u32(number());
                case "u64", "i64" -> payload.u64(number());
                case "string" -> payload.bytes(bytes());
                case "raw" -> payload.fixed(bytes());
                default -> throw new IllegalArgumentException(type);
            }
        }

        /// Returns the value that the production parser reads, with bytes as hexadecimal text.
        Object read(Fields fields) {
            return switch (type) {
                case "u8" -> (long) fields.u8();
                case "u16" -> (long) fields.u16();
                case "u32", "count" -> fields.u32();
                case "i32" -> (long) fields.i32();
                case "u64", "i64" -> fields.i64();
                case "string" -> HexFormat.of().formatHex(fields.bytes());
                case "raw" -> HexFormat.of().formatHex(fields.fixed(bytes().length));
                default -> throw new IllegalArgumentException(type);
            };
        }

        Object expected() {
            return switch (type) {
                case "string", "raw" -> HexFormat.of().formatHex(bytes());
                default -> number();
            };
        }
    }

    static List<Golden> all() {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .map(Golden::read)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Golden named(String name) {
        return read(FOLDER.resolve(name + ".txt"));
    }

    ByteBuffer payload() {
        return ByteBuffer.wrap(bytes).slice(Payload.HEADER, bytes.length - Payload.HEADER);
    }

    Fields reader() {
        return new Fields(payload());
    }

    boolean isSentByTheGuest() {
        return switch (kind) {
            case HELLO, PONG, STARTED, DATA, CREDIT, EOF, ARRIVED, FAIL, END -> true;
            case WELCOME, REFUSE, PING, SHUTDOWN, OPEN, CLOSE, DETACH, SIGNAL, RESIZE, ATTACH -> false;
        };
    }

    @Override
    public String toString() {
        return name;
    }

    private static Golden read(Path text) {
        try {
            String name = text.getFileName().toString().replace(".txt", "");
            byte[] bytes = Files.readAllBytes(text.resolveSibling(name + ".bin"));
            List<String> lines = Files.readAllLines(text).stream()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
            String[] head = lines.getFirst().split(" ");
            var fields = new ArrayList<Field>();
            for (String line : lines.subList(1, lines.size())) {
                String[] parts = line.split(" ", 3);
                fields.add(new Field(parts[0], parts[1], parts.length > 2 ? parts[2] : "text:"));
            }
            return new Golden(name, bytes, (int) Long.parseLong(head[1]), Kind.valueOf(head[2]), fields);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
