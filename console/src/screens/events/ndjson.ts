import type { LogEvent } from '~/api/types'

/** Gives the browser these events as a file, one on a line. */
export function saveAsLines(name: string, events: readonly LogEvent[]): void {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`)
  const url = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Not at once: the browser has only begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
