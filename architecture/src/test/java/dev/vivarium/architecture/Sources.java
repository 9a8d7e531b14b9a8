package dev.vivarium.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.stream.StreamSupport;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// Shipped Java sources, parsed but not compiled. Immutable.
final class Sources {
    private final Trees trees;
    private final SourcePositions positions;
    private final List<CompilationUnitTree> units;

    private Sources(Trees trees, List<CompilationUnitTree> units) {
        this.trees = trees;
        this.positions = trees.getSourcePositions();
        this.units = units;
    }

    static Sources parse() {
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            var task = (JavacTask) compiler.getTask(
                    null, files, null, null, null, files.getJavaFileObjectsFromPaths(Repository.mainSources()));
            var units = StreamSupport.stream(task.parse().spliterator(), false)
                    .<CompilationUnitTree>map(unit -> unit)
                    .toList();
            return new Sources(Trees.instance(task), units);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<CompilationUnitTree> units() {
        return units;
    }

    Trees trees() {
        return trees;
    }

    /// Returns the number of lines of a tree, including its first and last line.
    long lines(CompilationUnitTree unit, Tree tree) {
        var map = unit.getLineMap();
        return map.getLineNumber(positions.getEndPosition(unit, tree))
                - map.getLineNumber(positions.getStartPosition(unit, tree))
                + 1;
    }
}
