package dev.vivarium.cli;

import dev.vivarium.cli.tty.Printable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/// Stream that reports the progress of a copy: after 400 ms, a changing line on a terminal, or a new line every ten
/// seconds otherwise. Confined to the reading thread.
final class Progress extends FilterInputStream {
    private static final Duration PATIENCE = Duration.ofMillis(400);
    private static final Duration REDRAW = Duration.ofMillis(200);
    private static final Duration REPEAT = Duration.ofSeconds(10);
    private static final double MEGABYTE = 1_000_000;

    private final Invocation viv;
    private final String name;
    private final long total;
    private final long start = System.nanoTime();
    private long told = start;
    private long count;
    private boolean drawn;

    /// @param total -1 if unknown
    Progress(Invocation viv, InputStream bytes, String name, long total) {
        super(bytes);
        this.viv = viv;
        this.name = name;
        this.total = total;
    }

    @Override
    public int read() throws IOException {
        int one = super.read();
        count(one < 0 ? -1 : 1);
        return one;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        int read = super.read(target, offset, length);
        count(read);
        return read;
    }

    private void count(int read) {
        count += Math.max(0, read);
        long now = System.nanoTime();
        Duration pause = viv.terminal().ttys().err() ? REDRAW : REPEAT;
        boolean due = now - told > pause.toNanos() && now - start > PATIENCE.toNanos();
        if (due && !viv.isJson()) {
            told = now;
            print(now);
        }
    }

    private void print(long now) {
        double seconds = (now - start) / 1e9;
        String line = Printable.text(name) + "  " + megabytes(count) + (total < 0 ? "" : " of " + megabytes(total))
                + "  " + megabytes((long) (count / seconds)) + "/s";
        if (viv.terminal().ttys().err()) {
            drawn = true;
            viv.terminal().err().print("\r" + line + "\u001b[K");
            viv.terminal().err().flush();
        } else {
            viv.terminal().err().println(line);
        }
    }

    private static String megabytes(long bytes) {
        return Math.round(bytes / MEGABYTE * 10) / 10.0 + " MB";
    }

    @Override
    public void close() throws IOException {
        if (drawn) {
            drawn = false;
            viv.terminal().err().print("\r\u001b[K");
            viv.terminal().err().flush();
        }
        super.close();
    }
}
