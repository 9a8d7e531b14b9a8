package dev.vivarium.core.guard.trajectory;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Changes of one file since the last passing check. Immutable.
///
/// @param edits    number of changes
/// @param returns  number of times that the file got content that it had before
/// @param seqs     numbers of the newest changes
/// @param versions hashes of the newest contents, with the present one last
/// @param isModified whether the file changed after its creation. A clone of a repository creates files, too
record EditedFile(int edits, int returns, List<Long> seqs, List<String> versions, boolean isModified) {
    private static final int VERSIONS = 6;
    private static final int HASH = 12;

    static final EditedFile UNKNOWN = new EditedFile(0, 0, List.of(), List.of(), false);

    EditedFile {
        seqs = List.copyOf(seqs);
        versions = List.copyOf(versions);
    }

    /// Returns the file after a change.
    ///
    /// @param isNew whether the file did not exist before
    EditedFile changed(long seq, boolean isNew, Optional<String> version) {
        var newSeqs = kept(seqs, Tally.SEQS);
        newSeqs.add(seq);
        if (version.isEmpty()) {
            return new EditedFile(edits + 1, returns, newSeqs, versions, isModified || !isNew);
        }
        String hash = hash(version.get());
        boolean isSame = !versions.isEmpty() && versions.getLast().equals(hash);
        int newReturns = isSame ? returns : versions.contains(hash) ? returns + 1 : 0;
        var newVersions = new ArrayList<>(versions);
        newVersions.remove(hash);
        var some = kept(newVersions, VERSIONS);
        some.add(hash);
        return new EditedFile(edits + 1, newReturns, newSeqs, some, isModified || !isNew);
    }

    /// Reports whether this content is new for the file.
    boolean isNew(Optional<String> version) {
        return version.map(EditedFile::hash).filter(versions::contains).isEmpty();
    }

    EditedFile checked() {
        return new EditedFile(0, 0, List.of(), versions, isModified);
    }

    long lastSeq() {
        return seqs.isEmpty() ? 0 : seqs.getLast();
    }

    private static String hash(String version) {
        return version.substring(0, Math.min(HASH, version.length()));
    }

    private static <T> List<T> kept(List<T> list, int max) {
        return new ArrayList<>(list.subList(Math.max(0, list.size() + 1 - max), list.size()));
    }
}
