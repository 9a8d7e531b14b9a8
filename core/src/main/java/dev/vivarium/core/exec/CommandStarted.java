package dev.vivarium.core.exec;

import dev.vivarium.model.Command;
import dev.vivarium.model.ProcessInfo;
import java.util.Optional;

/// A command that has just started, or that was taken over from an earlier server. Immutable.
///
/// @param line  command line as typed; unknown if an earlier server started it
/// @param name  name under which the guest keeps it, if any
/// @param place position of the first output that the listener receives
public record CommandStarted(
        ProcessInfo.Kind kind, int pid, Optional<String> line, Optional<String> name, Position place) {
    /// Number of bytes of each stream before the first that the listener receives.
    public record Position(long stdout, long stderr) {
        public static final Position START = new Position(0, 0);
    }

    /// A command whose client waits for it.
    public static CommandStarted of(Command command, int pid) {
        return new CommandStarted(
                ProcessInfo.Kind.EXEC, pid, Optional.of(line(command)), Optional.empty(), Position.START);
    }

    /// A command that the guest keeps.
    public static CommandStarted kept(ProcessInfo.Kind kind, int pid, String line, String name) {
        return new CommandStarted(kind, pid, Optional.of(line), Optional.of(name), Position.START);
    }

    /// A kept command that was taken over.
    public static CommandStarted found(ProcessInfo.Kind kind, int pid, String name, Position place) {
        return new CommandStarted(kind, pid, Optional.empty(), Optional.of(name), place);
    }

    /// Returns the command line. For a script, returns the script without the shell that runs it.
    public static String line(Command command) {
        var argv = command.argv();
        int last = argv.size() - 1;
        boolean isScript = last >= 2
                && argv.get(last - 1).equals("-c")
                && argv.subList(0, last - 1).stream().anyMatch(word -> word.endsWith("bash"));
        return isScript ? argv.getLast() : String.join(" ", argv);
    }
}
