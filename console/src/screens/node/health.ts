import { bytes, span } from '~/ui/format'
import type { Node, Work } from './use-node'

export type Tone = 'warn' | 'bad'

/** One figure of the server, and whether it needs a person. */
export interface Sign {
  readonly name: string
  readonly value: string
  readonly tone?: Tone
  /** Explanation of the mark. */
  readonly why?: string
  /** Used share from 0 to 1, if known. */
  readonly used?: number
}

const FEW = 0.1
const ALMOST_NONE = 0.05
const BUSY = 2
/** A ready task that waits longer needs a person. */
const LONG_WAIT_MS = 10 * 60_000
/** A higher share of failed runs is unusual, if there are a few runs. */
const MANY_FAILED = 0.5
const A_FEW = 4
const SLOW_STORE_MS = 100

/** State of a server at a glance. A problem has a tone and a reason. */
export function signs(node: Node): Sign[] {
  const failing = Object.entries(node.failing).map(
    ([part, why]): Sign => ({ name: part, value: 'fails', tone: 'bad', why }),
  )
  return [
    ...failing,
    warm(node),
    sandboxes(node),
    load(node),
    memory(node),
    disk(node),
    ...work(node),
    ...isolation(node),
  ]
}

function warm({ pool }: Node): Sign {
  const value = `${pool.available} of ${pool.target}`
  if (pool.target > 0 && pool.available === 0) {
    return { name: 'warm', value, tone: 'warn', why: 'The pool is empty. The next sandbox starts cold.', used: 1 }
  }
  return { name: 'warm', value, used: pool.target === 0 ? undefined : 1 - Math.min(1, pool.available / pool.target) }
}

function sandboxes({ sandboxes: { active, most } }: Node): Sign {
  const sign = { name: 'sandboxes', value: `${active} of ${most}`, used: most === 0 ? 1 : active / most }
  if (active >= most)
    return { ...sign, tone: 'bad', why: 'The server has the maximum number of sandboxes and refuses new ones.' }
  return active >= most * (1 - FEW) ? { ...sign, tone: 'warn', why: 'The server is almost full.' } : sign
}

function load({ host: { cpus, load: now } }: Node): Sign {
  if (now === undefined) return { name: 'CPUs', value: String(cpus) }
  const sign = {
    name: cpus === 1 ? 'CPU' : 'CPUs',
    value: `load ${now.toFixed(1)} on ${cpus}`,
    used: Math.min(1, now / cpus),
  }
  return now > cpus * BUSY ? { ...sign, tone: 'warn', why: 'The load is higher than the number of processors.' } : sign
}

function memory({ host }: Node): Sign {
  return room('memory', host.memory_free_bytes, host.memory_bytes, 'Memory is low. The kernel may kill sandboxes.')
}

function disk({ host }: Node): Sign {
  return room('disk', host.disk_free_bytes, host.disk_bytes, 'Disk space is low.')
}

function room(name: string, free: number, all: number, why: string): Sign {
  const left = all === 0 ? 1 : free / all
  const sign = { name, value: `${bytes(free)} free`, used: 1 - left }
  if (left < ALMOST_NONE) return { ...sign, tone: 'bad', why }
  return left < FEW ? { ...sign, tone: 'warn', why } : sign
}

/** The queue and the runs. A fast store is not shown. */
function work({ work: now }: Node): Sign[] {
  if (now === undefined) return []
  return [queue(now), ...failures(now), ...store(now)]
}

function queue({ queue_depth: depth, oldest_ready_seconds: oldest = 0 }: Work): Sign {
  const sign = { name: depth === 1 ? 'queued task' : 'queued tasks', value: String(depth) }
  if (oldest * 1_000 < LONG_WAIT_MS) return sign
  return { ...sign, tone: 'warn', why: `The oldest ready task has waited for ${span(oldest * 1_000)}.` }
}

function failures({ runs_last_hour: runs, failure_rate: rate }: Work): Sign[] {
  if (runs === 0) return []
  const sign = { name: 'of runs failed', value: `${Math.round(rate * 100)} %` }
  const why = `${Math.round(rate * 100)} % of the ${runs} runs of the last hour failed.`
  return [rate > MANY_FAILED && runs >= A_FEW ? { ...sign, tone: 'warn', why } : sign]
}

function store({ store_latency_ms: latency }: Work): Sign[] {
  if (latency < SLOW_STORE_MS) return []
  return [{ name: 'store', value: span(latency), tone: 'warn', why: 'A transaction of the store takes long.' }]
}

function isolation({ provider }: Node): Sign[] {
  if (provider.isolates) return []
  const why = 'No isolation: commands run as the user of the server. For tests only.'
  return [{ name: 'isolation', value: 'none', tone: 'warn', why }]
}
