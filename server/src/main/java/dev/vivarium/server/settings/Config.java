package dev.vivarium.server.settings;

import dev.vivarium.core.egress.EgressConfig;
import dev.vivarium.core.store.PostgresAddress;
import java.nio.file.Path;
import java.util.Optional;

/// Configuration of the server, one record per concern. Immutable.
public record Config(
        Path home,
        Optional<PostgresAddress> store,
        Optional<String> apiKey,
        String workerId,
        Optional<String> redisHost,
        HttpConfig http,
        AccessConfig access,
        EngineConfig engine,
        CallConfig calls,
        PreviewConfig preview,
        RunConfig runs,
        ModelConfig model,
        RateConfig rates,
        WatchConfig watch,
        LogConfig log) {
    public static Config of(Settings settings) {
        settings.get(Catalogue.REDIS_PORT);
        return new Config(
                settings.home(),
                settings.get(Catalogue.STORE),
                settings.get(Catalogue.API_KEY),
                settings.get(Catalogue.WORKER_ID),
                settings.get(Catalogue.REDIS_HOST),
                HttpConfig.of(settings),
                AccessConfig.of(settings),
                EngineConfig.of(settings),
                CallConfig.of(settings),
                PreviewConfig.of(settings),
                RunConfig.of(settings),
                ModelConfig.of(settings),
                RateConfig.of(settings),
                WatchConfig.of(settings),
                LogConfig.of(settings));
    }

    public EgressConfig egress() {
        return engine.sandboxes().egress();
    }

    public Config withHttp(HttpConfig other) {
        return new Config(
                home, store, apiKey, workerId, redisHost, other, access, engine, calls, preview, runs, model, rates,
                watch, log);
    }

    public Config withEgress(EgressConfig other) {
        return new Config(
                home,
                store,
                apiKey,
                workerId,
                redisHost,
                http,
                access,
                engine.withEgress(other),
                calls,
                preview,
                runs,
                model,
                rates,
                watch,
                log);
    }

    public Config withRates(RateConfig other) {
        return new Config(
                home, store, apiKey, workerId, redisHost, http, access, engine, calls, preview, runs, model, other,
                watch, log);
    }

    public Config withWatch(WatchConfig other) {
        return new Config(
                home, store, apiKey, workerId, redisHost, http, access, engine, calls, preview, runs, model, rates,
                other, log);
    }

    @Override
    public String toString() {
        return "Config[" + home + ", " + http + ", " + access + ", " + engine + ", " + calls + ", " + preview + ", "
                + runs + ", " + watch + ", " + log + "]";
    }
}
