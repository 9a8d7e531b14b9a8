import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw } from 'lucide-react'
import { sentence } from '~/api/problem'
import { type Delivery, readDead, readWebhooks, replay, type Webhook } from '~/api/supervision'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { When } from '~/ui/When'
import css from './Webhooks.module.css'

const EVERY_MS = 15_000

/** The webhooks of the user, with the deliveries that the server gave up. Absent if the server has no webhooks. */
export function Webhooks() {
  const { data, error, refetch } = useQuery({
    queryKey: ['webhooks'],
    queryFn: readWebhooks,
    refetchInterval: ({ state }) => (state.data === null ? false : EVERY_MS),
  })
  if (data === null) return null
  return (
    <Section
      title="Webhooks"
      about={
        <>
          The server sends events to these addresses. Add one with <code>POST /api/v1/webhooks</code> or{' '}
          <code className={css.line}>viv webhook</code>.
        </>
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={2} label="Loading the webhooks" />}
      {data?.length === 0 && <p className={css.quiet}>No webhook yet</p>}
      <ul className={css.hooks}>
        {data?.map((hook) => (
          <Hook key={hook.webhook_id} hook={hook} />
        ))}
      </ul>
    </Section>
  )
}

function Hook({ hook }: { hook: Webhook }) {
  return (
    <li className={css.hook}>
      <strong className={css.url}>{plain(hook.url)}</strong>
      <p className={css.quiet}>
        {hook.event_types.length === 0 ? 'All events' : hook.event_types.map(plain).join(', ')}
        {hook.format && ` · ${plain(hook.format)}`} · added <When at={hook.created_at} />
      </p>
      <DeadLetters hook={hook} />
    </li>
  )
}

/** Deliveries that failed for the last time. A replay tries one again. */
function DeadLetters({ hook }: { hook: Webhook }) {
  const queries = useQueryClient()
  const key = ['webhooks', hook.webhook_id, 'dead']
  const { data, error } = useQuery({
    queryKey: key,
    queryFn: () => readDead(hook.webhook_id),
    refetchInterval: EVERY_MS,
  })
  const again = useMutation({
    mutationFn: replay,
    onSettled: () => queries.invalidateQueries({ queryKey: key }),
  })
  const problem = error ?? again.error
  return (
    <>
      {problem && (
        <p role="alert" className={form.problem}>
          {sentence(problem)}
        </p>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className={css.dead} aria-label={`Dead letters of ${plain(hook.url)}`}>
          {data.map((delivery) => (
            <Letter
              key={delivery.delivery_id}
              delivery={delivery}
              isPending={again.isPending && again.variables?.delivery_id === delivery.delivery_id}
              onReplay={() => again.mutate(delivery)}
            />
          ))}
        </ul>
      )}
    </>
  )
}

interface LetterProps {
  readonly delivery: Delivery
  readonly isPending: boolean
  readonly onReplay: () => void
}

function Letter({ delivery, isPending, onReplay }: LetterProps) {
  const tries = delivery.attempts === 1 ? '1 attempt' : `${delivery.attempts} attempts`
  return (
    <li className={css.letter}>
      <code>{plain(delivery.event_type)}</code>
      <span className={css.why}>
        {plain(delivery.error ?? `status ${delivery.response_status ?? 'unknown'}`)}, after {tries}
      </span>
      <span className={css.quiet}>
        <When at={delivery.created_at} />
      </span>
      <Button icon={RotateCcw} disabled={isPending} onClick={onReplay}>
        Replay<span className="visually-hidden"> {plain(delivery.delivery_id)}</span>
      </Button>
    </li>
  )
}
