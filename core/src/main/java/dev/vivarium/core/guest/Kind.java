package dev.vivarium.core.guest;

import org.jspecify.annotations.Nullable;

/// Kind of a frame, with its direction. Immutable.
enum Kind {
    HELLO(0x01, Way.TO_HOST),
    WELCOME(0x02, Way.TO_GUEST),
    REFUSE(0x03, Way.TO_GUEST),
    PING(0x04, Way.TO_GUEST),
    PONG(0x05, Way.TO_HOST),
    SHUTDOWN(0x06, Way.TO_GUEST),
    OPEN(0x10, Way.TO_GUEST),
    STARTED(0x11, Way.TO_HOST),
    DATA(0x12, Way.BOTH),
    CREDIT(0x13, Way.BOTH),
    EOF(0x14, Way.BOTH),
    CLOSE(0x15, Way.TO_GUEST),
    DETACH(0x16, Way.TO_GUEST),
    SIGNAL(0x17, Way.TO_GUEST),
    RESIZE(0x18, Way.TO_GUEST),
    ATTACH(0x19, Way.TO_GUEST),
    ARRIVED(0x1A, Way.TO_HOST),
    FAIL(0x1E, Way.TO_HOST),
    END(0x1F, Way.TO_HOST);

    private enum Way {
        TO_HOST,
        TO_GUEST,
        BOTH
    }

    private static final int CODES = 0x20;
    private static final @Nullable Kind[] BY_CODE = byCode();

    final byte code;
    private final Way way;

    Kind(int code, Way way) {
        this.code = (byte) code;
        this.way = way;
    }

    /// The kind with this code, if guests may send it.
    static Kind fromGuest(int code) {
        Kind kind = code >= 0 && code < CODES ? BY_CODE[code] : null;
        if (kind == null || kind.way == Way.TO_GUEST) {
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
