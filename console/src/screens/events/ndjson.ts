import type { LogEvent } from '~/api/types'
import { save } from '~/ui/save'

/** Downloads the events as NDJSON. */
export function saveAsLines(name: string, events: readonly LogEvent[]): void {
  save(name, 'application/x-ndjson', events.map((event) => `${JSON.stringify(event)}\n`).join(''))
}
