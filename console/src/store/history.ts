import { api, body } from '~/api/client'
import type { LogEvent } from '~/api/types'
import type { History, Page } from './event-store'
import type { FileEvents } from './file-changes'

const FILE_PAGE = 1_000

/** The log of a sandbox on the server. */
export function historyOf(sandboxId: string): History {
  return {
    newest: (limit) => page(sandboxId, { newest: true, limit }),
    before: (seq, limit) => page(sandboxId, { before_seq: seq, limit }),
    after: (seq, limit) => page(sandboxId, { after_seq: seq, limit }),
  }
}

/** The file events in the log of a sandbox. */
export function fileEventsOf(sandboxId: string): FileEvents {
  return {
    page: (before) => {
      const end = before === undefined ? { newest: true as const } : { before_seq: before }
      return page(sandboxId, { type: 'file.', limit: FILE_PAGE, ...end })
    },
  }
}

/** The newest events of a type or of a prefix, in ascending order. */
export async function newest(sandboxId: string, type: string, limit: number): Promise<readonly LogEvent[]> {
  return (await page(sandboxId, { type, newest: true, limit })).events
}

interface Query {
  readonly type?: string
  readonly newest?: true
  readonly before_seq?: number
  readonly after_seq?: number
  readonly limit: number
}

async function page(sandboxId: string, query: Query): Promise<Page> {
  const params = { path: { sandbox_id: sandboxId }, query }
  const answer = await body(api.GET('/api/v1/sandboxes/{sandbox_id}/events', { params }))
  // The same route returns a stream on request. The generated client does not know that.
  if (typeof answer === 'string') throw new TypeError('the server sent a stream instead of a page')
  return { events: answer.events as readonly LogEvent[], firstSeq: answer.first_seq, headSeq: answer.head_seq }
}
