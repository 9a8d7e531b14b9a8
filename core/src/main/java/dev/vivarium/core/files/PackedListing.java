package dev.vivarium.core.files;

import dev.vivarium.core.guest.Fields;
import dev.vivarium.model.FileEntry;
import dev.vivarium.model.Listing;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Compact listing of a directory. Confined to one thread; immutable after [#end].
///
/// It takes about a third of the memory of a list of entries, and accounts for it. It decodes an entry only while a
/// caller reads it.
public final class PackedListing {
    /// Maximum total size of the names in one listing. The guest limits the number of entries; a hostile guest may
    /// not, and names in a deep tree are long.
    private static final int MAX_NAME_BYTES = 8 << 20;

    private static final int FIXED = Byte.BYTES + 2 * Integer.BYTES + 2 * Long.BYTES;

    /// Overhead of an entry: its index in the order, boxed while sorting.
    private static final int ORDER = 24;

    /// Bytes that need no reservation, because most listings are short.
    private static final int FREE = 64 * 1024;

    private final int maxEntries;
    private final LongConsumer reserve;
    private byte[] bytes = new byte[1024];
    private int used;
    private int nameBytes;
    private long reserved = FREE;
    private int[] starts = new int[16];
    private int count;
    private Listing totals = new Listing(List.of(), 0, 0, 0, false);

    /// Calls `reserve` with the number of bytes before each allocation. It throws to refuse them.
    PackedListing(int maxEntries, LongConsumer reserve) {
        this.maxEntries = maxEntries;
        this.reserve = reserve;
    }

    /// Returns the entries, newest first, then by name.
    public Stream<FileEntry> entries() {
        return IntStream.range(0, count).mapToObj(i -> entry(starts[i]));
    }

    public int size() {
        return count;
    }

    /// Returns the totals of the listing, without its entries.
    public Listing totals() {
        return totals;
    }

    private boolean isFull() {
        return nameBytes >= MAX_NAME_BYTES;
    }

    /// Decodes the entries of one frame. Reports whether the listing is full.
    boolean add(Fields fields) {
        while (!fields.isEmpty() && count < maxEntries && !isFull()) {
            addOne(fields);
        }
        return isFull();
    }

    private void addOne(Fields fields) {
        int type = fields.u8();
        int mode = fields.i32();
        long size = fields.u64();
        long modified = fields.i64();
        fields.u32(); // uid: always that of the sandbox user, or one without meaning outside
        byte[] name = fields.bytes();
        makeRoom(FIXED + name.length);
        starts[count++] = used;
        ByteBuffer.wrap(bytes, used, FIXED + name.length)
                .put((byte) type)
                .putInt(mode)
                .putLong(size)
                .putLong(modified)
                .putInt(name.length)
                .put(name);
        used += FIXED + name.length;
        nameBytes += name.length;
    }

    private void makeRoom(int more) {
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
        }
        if (used + more > bytes.length) {
            int larger = Math.max(used + more, bytes.length + bytes.length / 2);
            require((long) larger + (long) ORDER * starts.length);
            bytes = Arrays.copyOf(bytes, larger);
        }
    }

    private void require(long total) {
        if (total > reserved) {
            reserve.accept(total - reserved);
            reserved = total;
        }
    }

    /// Sorts the entries, and decodes the totals that the guest sends after them.
    PackedListing end(Fields fields) {
        starts = IntStream.range(0, count)
                .mapToObj(i -> starts[i])
                .sorted(Comparator.comparingLong((Integer start) -> modified(start))
                        .reversed()
                        .thenComparing(this::name))
                .mapToInt(Integer::intValue)
                .toArray();
        totals = new Listing(List.of(), fields.u64(), fields.u64(), fields.u64(), fields.u8() != 0 || isFull());
        return this;
    }

    private FileEntry entry(int start) {
        var fields = ByteBuffer.wrap(bytes, start, used - start);
        FileEntry.Type type = EntryCodec.type(Byte.toUnsignedInt(fields.get()));
        int mode = fields.getInt() & EntryCodec.PERMISSIONS;
        return new FileEntry(name(start), type, mode, fields.getLong(), EntryCodec.instant(fields.getLong()));
    }

    private long modified(int start) {
        return ByteBuffer.wrap(bytes).getLong(start + Byte.BYTES + Integer.BYTES + Long.BYTES);
    }

    private String name(int start) {
        int length = ByteBuffer.wrap(bytes).getInt(start + FIXED - Integer.BYTES);
        return new String(bytes, start + FIXED, length, StandardCharsets.UTF_8);
    }
}
