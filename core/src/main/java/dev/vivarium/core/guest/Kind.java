package dev.vivarium.core.guest;

import org.jspecify.annotations.Nullable;

/// Kind of a frame, with its direction. Immutable.
enum Kind {
    HELLO(0x01, Direction.TO_HOST),
    WELCOME(0x02, Direction.TO_GUEST),
    REFUSE(0x03, Direction.TO_GUEST),
    PING(0x04, Direction.TO_GUEST),
    PONG(0x05, Direction.TO_HOST),
    SHUTDOWN(0x06, Direction.TO_GUEST),
    OPEN(0x10, Direction.TO_GUEST),
    STARTED(0x11, Direction.TO_HOST),
    DATA(0x12, Direction.BOTH),
    CREDIT(0x13, Direction.BOTH),
    EOF(0x14, Direction.BOTH),
    CLOSE(0x15, Direction.TO_GUEST),
    DETACH(0x16, Direction.TO_GUEST),
    SIGNAL(0x17, Direction.TO_GUEST),
    RESIZE(0x18, Direction.TO_GUEST),
    ATTACH(0x19, Direction.TO_GUEST),
    ARRIVED(0x1A, Direction.TO_HOST),
    FAIL(0x1E, Direction.TO_HOST),
    END(0x1F, Direction.TO_HOST);

    private enum Direction {
        TO_HOST,
        TO_GUEST,
        BOTH
    }

    private static final int CODES = 0x20;
    private static final @Nullable Kind[] BY_CODE = byCode();

    final byte code;
    private final Direction direction;

    Kind(int code, Direction direction) {
        this.code = (byte) code;
        this.direction = direction;
    }

    /// The kind with this code, if guests may send it.
    static Kind fromGuest(int code) {
        Kind kind = code >= 0 && code < CODES ? BY_CODE[code] : null;
        if (kind == null || kind.direction == Direction.TO_GUEST) {
            throw new ProtocolViolation("a frame of kind " + code + " is not for the host");
        }
        return kind;
    }

    private static @Nullable Kind[] byCode() {
        var table = new @Nullable Kind[CODES];
        for (Kind kind : values()) {
            table[kind.code] = kind;
        }
        return table;
    }
}
