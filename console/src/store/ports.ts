import { text } from '~/api/data'
import type { LogEvent } from '~/api/types'

const MOST_EVENTS = 500
const MOST_PORTS = 6
const LISTENS = '0A'
const SPOKEN =
  /(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})\b|(?:\bport|-p|\bhttp\.server)[ :=]+(\d{2,5})\b/gi
const LARGEST = 65_535

/** Ports in the recent output of programs, newest first. A guess without a request. */
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

/** Writes the tables of all sockets, then those that programs of the sandbox hold. */
export const LIST_PORTS = [
  'sh',
  '-c',
  "cat /proc/net/tcp /proc/net/tcp6; ls -l /proc/[0-9]*/fd 2>/dev/null | grep -o 'socket:\\[[0-9]*\\]'; true",
]

/**
 * The ports on which programs of the sandbox listen, from the output of `LIST_PORTS`. A socket that no program holds is
 * of the sandbox itself: its control port or its proxy.
 */
export function listeningPorts(output: string): readonly number[] {
  const held = new Set([...output.matchAll(/^socket:\[(\d+)\]$/gm)].map(([, inode]) => inode))
  const ports = new Set<number>()
  for (const line of output.split('\n')) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    const port = Number.parseInt(local?.split(':')[1] ?? '', 16)
    if (state === LISTENS && isPort(port) && held.has(inode)) ports.add(port)
  }
  return [...ports].sort((a, b) => a - b)
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= LARGEST
}
