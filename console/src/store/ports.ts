import { text } from '~/api/data'
import type { LogEvent } from '~/api/types'

const MOST_EVENTS = 500
const MOST_PORTS = 6
const LISTENS = '0A'
const SPOKEN =
  /(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b|(?:\bport|-p|\bhttp\.server)[ :=]+(\d{2,5})\b/gi
const LARGEST = 65_535

/** The ports that programs spoke of in what they wrote last, the newest first: a guess, and free. */
export function spokenPorts(events: readonly LogEvent[]): readonly number[] {
  const ports = new Set<number>()
  for (const event of events.slice(-MOST_EVENTS).reverse()) {
    const words = wordsOf(event)
    for (const match of words.matchAll(SPOKEN)) {
      const port = Number(match[1] ?? match[2])
      if (isPort(port)) ports.add(port)
    }
    if (ports.size >= MOST_PORTS) break
  }
  return [...ports].slice(0, MOST_PORTS)
}

function wordsOf({ event_type: type, event_data: data }: LogEvent): string {
  if (type === 'command.output') return `${text(data, 'stdout') ?? ''}\n${text(data, 'stderr') ?? ''}`
  if (type === 'command.started') return text(data, 'command') ?? ''
  return ''
}

/** The ports on which somebody listens, out of `/proc/net/tcp` and `/proc/net/tcp6`. */
export function listeningPorts(table: string): readonly number[] {
  const ports = new Set<number>()
  for (const line of table.split('\n')) {
    const [, local, , state] = line.trim().split(/\s+/)
    const port = Number.parseInt(local?.split(':')[1] ?? '', 16)
    if (state === LISTENS && isPort(port)) ports.add(port)
  }
  return [...ports].sort((a, b) => a - b)
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= LARGEST
}
