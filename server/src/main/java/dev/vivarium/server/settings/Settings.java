package dev.vivarium.server.settings;

import static dev.vivarium.model.Failure.InvalidRequest.require;

import dev.vivarium.core.store.PostgresAddress;
import dev.vivarium.model.NearestName;
import dev.vivarium.model.SandboxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Chosen values of all settings, with their sources. Immutable.
///
/// Arguments take precedence over the environment, the environment over the file, the file over the defaults. An
/// unknown name is an error that suggests the nearest known name.
public final class Settings {
    private static final String FILE = "vivarium.yaml";
    private static final String PREFIX = "VIV_";

    /// Variables of the client programs and of the launcher, which may be set in the same shell.
    private static final Set<String> OF_CLIENTS = Set.of(
            "VIV_SERVER",
            "VIV_USER",
            "VIV_PROFILE",
            "VIV_CONFIG_FILE",
            "VIV_DEBUG",
            "VIV_JAVA_OPTS",
            "VIV_AOT_OUTPUT",
            "VIV_AOT_MAIN",
            "VIV_BENCH_JAVA_OPTS");

    /// Variables of other sandbox servers that operators may bring along. This server has no use for them.
    private static final Map<String, String> WITHOUT_EFFECT = Map.of("WORKERS", "this version runs on one machine");

    private static final Set<Setting<?>> SECRETS = Set.of(Catalogue.API_KEY, Catalogue.MODEL_KEY, Catalogue.OPENAI_KEY);

    private final Map<String, Choice> choices;

    private Settings(Map<String, Choice> choices) {
        this.choices = choices;
    }

    private record Choice(String text, String origin) {}

    public static Settings read(List<String> arguments, Map<String, String> environment, Path workingDirectory) {
        var fromArguments = arguments(arguments);
        var fromEnvironment = environment(environment);
        var outer = new Settings(merged(Map.of(), fromEnvironment, fromArguments));
        var fromFile = outer.file(workingDirectory).map(Settings::yaml).orElse(Map.of());
        return new Settings(merged(fromFile, fromEnvironment, fromArguments));
    }

    /// Returns the parsed effective value.
    public <T> T get(Setting<T> setting) {
        var choice = Optional.ofNullable(choices.get(setting.key()));
        try {
            return setting.parser().apply(choice.map(Choice::text).orElse(setting.standard()));
        } catch (IllegalArgumentException e) {
            throw SandboxException.invalid(
                    choice.map(Choice::origin).orElse(setting.key()), String.valueOf(e.getMessage()));
        }
    }

    /// Reports whether a source sets a value, even an empty one.
    public boolean isChosen(Setting<?> setting) {
        return choices.containsKey(setting.key());
    }

    /// Returns all chosen values for the log, without secrets.
    public Map<String, String> chosen() {
        var shown = new LinkedHashMap<String, String>();
        for (Setting<?> setting : Catalogue.ALL) {
            Choice choice = choices.get(setting.key());
            if (choice != null) {
                shown.put(setting.key(), shown(setting, choice));
            }
        }
        return shown;
    }

    private String shown(Setting<?> setting, Choice choice) {
        if (setting == Catalogue.STORE) {
            return get(Catalogue.STORE).map(PostgresAddress::shown).orElse("");
        }
        return SECRETS.contains(setting) ? "***" : choice.text();
    }

    /// Returns a sentence for each variable that is set and has no effect.
    public static List<String> withoutEffect(Map<String, String> environment) {
        return WITHOUT_EFFECT.entrySet().stream()
                .filter(entry -> environment.containsKey(entry.getKey()))
                .map(entry -> entry.getKey() + " is set, but has no effect: " + entry.getValue())
                .sorted()
                .toList();
    }

    /// Returns the directory for all data of the server.
    public Path home() {
        return get(Catalogue.HOME)
                .orElseGet(() -> Path.of(System.getProperty("user.home"), ".vivarium"))
                .toAbsolutePath()
                .normalize();
    }

    private Optional<Path> file(Path workingDirectory) {
        var named = get(Catalogue.CONFIG);
        if (named.isPresent()) {
            Path file = workingDirectory.resolve(named.get());
            require(Files.isRegularFile(file), "config", "names a file that is not there: " + named.get());
            return Optional.of(file);
        }
        return List.of(workingDirectory, home()).stream()
                .map(directory -> directory.resolve(FILE))
                .filter(Files::isRegularFile)
                .findFirst();
    }

    private static Map<String, Choice> arguments(List<String> arguments) {
        var chosen = new HashMap<String, Choice>();
        var left = new ArrayList<>(arguments);
        while (!left.isEmpty()) {
            String flag = left.removeFirst();
            int equals = flag.indexOf('=');
            String name = equals < 0 ? flag : flag.substring(0, equals);
            var setting = Catalogue.ALL.stream()
                    .filter(s -> name.equals("--" + s.key()))
                    .findFirst()
                    .orElseThrow(() -> unknownFlag(name));
            require(equals >= 0 || !left.isEmpty(), name, "needs a value");
            String value = equals < 0 ? left.removeFirst() : flag.substring(equals + 1);
            require(chosen.put(setting.key(), new Choice(value, name)) == null, name, "is given twice");
        }
        return chosen;
    }

    /// The server's own variables take precedence over the aliases, which other programs may use too.
    private static Map<String, Choice> environment(Map<String, String> environment) {
        var chosen = new HashMap<String, Choice>();
        for (Setting<?> setting : Catalogue.ALL) {
            for (String name : List.of(setting.alias(), setting.variable())) {
                String value = environment.get(name);
                if (value != null && !name.isEmpty()) {
                    chosen.put(setting.key(), new Choice(value, name));
                }
            }
        }
        for (String name : environment.keySet()) {
            boolean known = Catalogue.ALL.stream().anyMatch(s -> s.variable().equals(name));
            if (name.startsWith(PREFIX) && !known && !OF_CLIENTS.contains(name)) {
                throw unknown(
                        name, Catalogue.ALL.stream().map(Setting::variable).toList());
            }
        }
        return chosen;
    }

    private static Map<String, Choice> yaml(Path file) {
        var chosen = new HashMap<String, Choice>();
        YamlFile.read(file).forEach((key, value) -> {
            if (!names("").contains(key)) {
                throw unknown("'" + key + "' in " + file.getFileName(), names(""), key);
            }
            chosen.put(key, new Choice(value, "'" + key + "' in " + file.getFileName()));
        });
        return chosen;
    }

    private static SandboxException unknownFlag(String name) {
        if (name.equals(Usage.ADOPT)) {
            return SandboxException.invalid(name, "is a flag of `viv serve` and takes no value");
        }
        var flags = new ArrayList<>(names("--"));
        flags.add(Usage.ADOPT);
        return unknown(name, flags);
    }

    private static List<String> names(String prefix) {
        return Catalogue.ALL.stream().map(s -> prefix + s.key()).toList();
    }

    @SafeVarargs
    private static Map<String, Choice> merged(Map<String, Choice>... rising) {
        var merged = new HashMap<String, Choice>();
        for (var layer : rising) {
            merged.putAll(layer);
        }
        return merged;
    }

    private static SandboxException unknown(String name, List<String> known) {
        return unknown(name, known, name);
    }

    private static SandboxException unknown(String shown, List<String> known, String name) {
        return SandboxException.invalid(shown, "is not a setting; did you mean " + NearestName.of(name, known) + "?");
    }
}
