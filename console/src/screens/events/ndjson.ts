import type { LogEvent } from '~/api/types'
import { save } from '~/ui/save'

/** Gives the browser these events as a file, one on a line. */
export function saveAsLines(name: string, events: readonly LogEvent[]): void {
  save(name, 'application/x-ndjson', events.map((event) => `${JSON.stringify(event)}\n`).join(''))
}
