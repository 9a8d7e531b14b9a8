import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { DIST, ready } from './server'

/** Response of the model, in the format of the module `scripted`. */
export interface Step {
  readonly when?: { readonly contains?: string | string[]; readonly lacks?: string | string[] }
  /** How often it can be used; 0 for always. The default is once. */
  readonly times?: number
  readonly thinking?: string
  readonly text?: string
  readonly tools?: readonly { readonly name: string; readonly input: object }[]
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number }
  readonly delay_ms?: number
  readonly fault?: { readonly kind: 'status' | 'garbage' | 'hang' | 'close' | 'cut'; readonly status?: number }
}

/** Call of the agent's bash tool. */
export function bash(command: string): { name: string; input: object } {
  return { name: 'Bash', input: { command } }
}

/** The scripted model. */
export class Model {
  constructor(readonly url: string) {}

  /** Sets the next responses; each is used once, the first that matches. After the last, the model has no response. */
  async play(...steps: readonly Step[]): Promise<void> {
    const answer = await fetch(`${this.url}/scripted/script`, { method: 'PUT', body: JSON.stringify({ steps }) })
    if (!answer.ok) throw new Error(await answer.text())
  }

  /** All requests since then, as text. */
  async asked(): Promise<string> {
    return await (await fetch(`${this.url}/scripted/asked`)).text()
  }
}

const LAUNCH = `. "$0/lib/find-java.sh" && find_java &&
exec "$JAVA_HOME/bin/java" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$0/lib/vivarium.jar" dev.vivarium.scripted.Main /dev/fd/3 3<<'END'
{}
END
`

/** The program of the scripted model. It exits when its standard input closes. */
export class ModelProcess {
  private constructor(
    readonly url: string,
    readonly child: ChildProcess,
  ) {}

  static async start(): Promise<ModelProcess> {
    const child = spawn('sh', ['-c', LAUNCH, DIST], { stdio: ['pipe', 'pipe', 'pipe'] })
    return new ModelProcess(await ready(child, 'the scripted model'), child)
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.stdin?.end()
    await ended
  }
}
