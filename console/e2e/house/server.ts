import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** The tested distribution: that of `make build`, or `E2E_DIST`. */
export const DIST = resolve(process.env.E2E_DIST ?? join(import.meta.dirname, '../../../build/vivarium'))

/** Settings of `viv serve`, by their names. */
export type Settings = Readonly<Record<string, string>>

const READY_WITHIN_MS = 300_000

/** Watchdog: waits for a message or for the exit of its starter, and then removes the remains. */
const CARETAKER = `read -r _ && exit
for _ in $(seq 300); do "$@" && rm -rf "$0" && exit; sleep 1; done`

/** No warm pool, and rate limits that tests do not reach. */
const ALWAYS: Settings = {
  'pool-size': '0',
  'rate-limits': 'off',
  'stop-grace-seconds': '0',
  // The receivers of webhooks are in the tests, and a delivery that fails is not tried again.
  'webhook-allow-private': 'on',
  'webhook-attempts': '1',
  // Without root there are no isolated sandboxes; the console is the same.
  ...(process.getuid?.() === 0 ? {} : { provider: 'process' }),
}

/**
 * Real server with its own home. Closing it ends its sandboxes and removes everything. If its starter is killed, the
 * server ends, and a watchdog removes the rest.
 */
export class Server {
  #process: ChildProcess | undefined
  #caretaker: ChildProcess | undefined
  #url = ''
  #key = ''

  private constructor(
    readonly home: string,
    readonly settings: Settings,
  ) {}

  static async start(settings: Settings = {}, port = 0): Promise<Server> {
    const server = new Server(await mkdtemp(join(tmpdir(), 'viv-e2e-')), { ...ALWAYS, ...settings })
    try {
      server.#keep()
      await server.#start(String(port))
      server.#key = (await readFile(join(server.home, 'credentials'), 'utf8')).trim()
      return server
    } catch (error) {
      await server.close().catch(() => undefined)
      throw error
    }
  }

  get url(): string {
    return this.#url
  }

  get adminKey(): string {
    return this.#key
  }

  /** Kills the server: pending data is lost, and its sandboxes continue. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Starts the server again with the same address and home. */
  async startAgain(): Promise<void> {
    await this.#start(new URL(this.#url).port)
  }

  async close(): Promise<void> {
    await this.#end('SIGTERM')
    const purge = spawn(join(DIST, 'bin/viv'), [...this.#line('purge'), '--yes'], {
      stdio: 'ignore',
      env: environment(),
    })
    const [status] = await once(purge, 'exit')
    if (status !== 0) throw new Error(`viv purge of ${this.home} ended with ${status}`)
    await rm(this.home, { recursive: true, force: true })
    this.#caretaker?.stdin?.end('done\n')
  }

  /** In its own session, so that a signal to the process group does not reach it. */
  #keep(): void {
    const line = ['-c', CARETAKER, this.home, join(DIST, 'bin/viv'), ...this.#line('purge'), '--yes']
    this.#caretaker = spawn('sh', line, { stdio: ['pipe', 'ignore', 'ignore'], env: environment(), detached: true })
  }

  async #start(port: string): Promise<void> {
    const line = [join(DIST, 'bin/viv'), ...this.#line('serve'), '--port', port]
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...line], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment(),
    })
    this.#process = child
    this.#url = await ready(child, line.join(' '))
  }

  #line(command: string): string[] {
    return [
      command,
      '--home',
      this.home,
      ...Object.entries(this.settings).flatMap(([name, value]) => [`--${name}`, value]),
    ]
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
}

/** A free port below the ephemeral range, so that no other program gets it while the server is stopped. */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const listener = createServer().listen(port, '127.0.0.1')
    const isFree = await once(listener, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    listener.close()
    await once(listener, 'close')
    return port
  }
}

/**
 * Environment without the settings of a server on this machine. With `E2E_CONSOLE`, a directory with
 * `dev/vivarium/console`, the server uses that console.
 */
function environment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('VIV_'))
  const console = process.env.E2E_CONSOLE
  const mine = console && { VIV_JAVA_OPTS: `-Xbootclasspath/a:${resolve(console)}` }
  return { ...Object.fromEntries(others), ...mine }
}

/** Waits until a program prints its address. If it exits before, throws an error with its output. */
export async function ready(child: ChildProcess, name: string): Promise<string> {
  const said: string[] = []
  child.stderr?.on('data', (chunk) => said.push(String(chunk)))
  return await new Promise((resolve, reject) => {
    const late = () => reject(new Error(`${name} is not ready after ${READY_WITHIN_MS / 1000} s:\n${said.join('')}`))
    setTimeout(late, READY_WITHIN_MS).unref()
    child.once('error', reject)
    child.once('exit', (status) => reject(new Error(`${name} ended with ${status}:\n${said.join('')}`)))
    if (child.stdout === null) throw new Error(`${name} has no output`)
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('ready on ')) resolve(line.slice('ready on '.length))
    })
  })
}
