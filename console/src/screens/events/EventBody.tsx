import { X } from 'lucide-react'
import type { LogEvent } from '~/api/types'
import { sizeOf } from '~/store/log-events'
import { Button } from '~/ui/Button'
import { CopyButton } from '~/ui/CopyButton'
import { bytes, moment, plain, whole } from '~/ui/format'
import { JsonTree } from '~/ui/JsonTree'
import { linkTo } from '../sandbox/use-timeline-keys'
import css from './EventsPanel.module.css'

/** One event in full, with ways to copy it. */
export function EventBody({ event, onClose }: { event: LogEvent; onClose: () => void }) {
  return (
    <section className={css.body} aria-label={`Event ${event.seq}`}>
      <header className={css.bodyHead}>
        <h2>
          {plain(event.event_type)} <span>#{whole(event.seq)}</span>
        </h2>
        <Button look="quiet" compact icon={X} onClick={onClose}>
          Close
        </Button>
      </header>
      <dl className={css.facts}>
        <div>
          <dt>Time</dt>
          <dd>{moment(event.created_at)}</dd>
        </div>
        <div>
          <dt>Source</dt>
          <dd>{plain(event.source)}</dd>
        </div>
        <div>
          <dt>Size</dt>
          <dd>{bytes(sizeOf(event))}</dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <code>{plain(event.id)}</code>
          </dd>
        </div>
      </dl>
      <div className={css.copies}>
        <CopyButton label="Link" text={linkTo(event.seq)} />
        <CopyButton label="JSON" text={JSON.stringify(event, null, 2)} />
        <CopyButton label="curl" text={curlOf(event)} />
      </div>
      {/* Another event is another tree: what was opened in the one is not open in the other. */}
      <JsonTree key={event.seq} value={event.event_data} />
    </section>
  )
}

/** Shell command that requests this event. It does not contain the key. */
function curlOf({ seq, sandbox_id: sandbox }: LogEvent): string {
  const url = `${location.origin}/api/v1/sandboxes/${encodeURIComponent(sandbox)}/events?after_seq=${seq - 1}&limit=1`
  return `curl -H "Authorization: Bearer $VIV_API_KEY" '${url}'`
}
