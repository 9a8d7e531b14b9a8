import type { SessionBody } from './draft'
import { javaString, javaText, pieces } from './quote'
import type { Wanted } from './request'

/** Code with the SDK where it has the operation, otherwise with the JDK. */
export function javaCode(wanted: Wanted, server: string, note: string, careful: string) {
  return wanted.path === '/create_session'
    ? { code: sdk(wanted.body, wanted.secrets, server), note: `${note} With the Java SDK.` }
    : { code: plain(wanted, server), note: `${careful} Needs no library.` }
}

function plain({ path, body, secrets }: Wanted, server: string): string {
  return `import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

void main() throws Exception {
    var body = ${javaText(pieces(body, secrets), '            ')};
    var request = HttpRequest.newBuilder(URI.create(${javaString(server + path)}))
            .header("Authorization", "Bearer " + System.getenv("VIV_API_KEY"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try (var client = HttpClient.newHttpClient()) {
        IO.println(client.send(request, BodyHandlers.ofString()).body());
    }
}`
}

function sdk(body: SessionBody, secrets: readonly string[], server: string): string {
  const owner = javaString(body.user_id ?? '')
  const request = [
    `NewSandbox.of(new UserId(${owner}), new ThreadId(${javaString(body.thread_id)}))`,
    ...wishes(body, secrets),
  ]
  return `import dev.vivarium.model.*;
import dev.vivarium.sdk.SandboxClient;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;

void main() {
    try (var client = SandboxClient.remote(URI.create(${javaString(server)}), System.getenv("VIV_API_KEY"))) {
        var box = client.sandbox(${request.join('\n                ')});
        IO.print(box.execute("echo hello").stdout());
    }
}`
}

function wishes(body: SessionBody, secrets: readonly string[]): string[] {
  const variables = Object.entries(body.env ?? {}).map(
    ([name, value]) =>
      `Map.entry(${javaString(name)}, ${secrets.includes(name) ? `System.getenv(${javaString(name)})` : javaString(value)})`,
  )
  return [
    ...(body.image === undefined ? [] : [`.withImage(${javaString(body.image)})`]),
    ...(body.timeout_minutes === undefined
      ? []
      : [`.withIdleTimeout(Duration.ofSeconds(${Math.round(body.timeout_minutes * 60)}))`]),
    ...(body.limits === undefined ? [] : [`.withLimits(${limits(body.limits)})`]),
    ...(variables.length === 0 ? [] : [`.withEnv(Map.ofEntries(${variables.join(', ')}))`]),
    ...(body.egress === undefined
      ? []
      : [`.withEgress(Egress.of("allow", List.of(${body.egress.allow.map(javaString).join(', ')})))`]),
  ]
}

/** The SDK needs all fields: absent ones get the defaults. */
function limits({ memory_mb, cpus, processes }: NonNullable<SessionBody['limits']>): string {
  const standard = (name: string) => `Limits.STANDARD.${name}()`
  return `new Limits(${[
    memory_mb === undefined ? standard('memoryBytes') : `${Math.round(memory_mb)}L << 20`,
    cpus ?? standard('cpus'),
    processes ?? standard('processes'),
    standard('diskBytes'),
  ].join(', ')})`
}
