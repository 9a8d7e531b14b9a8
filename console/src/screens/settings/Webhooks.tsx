import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus, RotateCcw, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '~/api/problem'
import {
  type Delivery,
  readDead,
  readDelivery,
  readWebhooks,
  removeWebhook,
  replay,
  testWebhook,
  type Webhook,
} from '~/api/supervision'
import { Button } from '~/ui/Button'
import { Confirm } from '~/ui/Confirm'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { When } from '~/ui/When'
import { WebhookDialog } from './WebhookDialog'
import css from './Webhooks.module.css'
import { KEY, outcomeOf } from './webhook-form'

const EVERY_MS = 15_000
const TEST_EVERY_MS = 1_000

/** The webhooks of the user, with the deliveries that the server gave up. Absent if the server has no webhooks. */
export function Webhooks() {
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: readWebhooks,
    refetchInterval: ({ state }) => (state.data === null ? false : EVERY_MS),
  })
  const [open, setOpen] = useState<Webhook | 'new'>()
  const close = () => setOpen(undefined)
  const remove = useRemove()
  if (data === null) return null
  const add = (
    <Button icon={Plus} onClick={() => setOpen('new')}>
      Add a webhook
    </Button>
  )
  return (
    <Section title="Webhooks" about="The server sends events to these addresses." actions={add}>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={2} label="Loading the webhooks" />}
      {data?.length === 0 && <p className={css.quiet}>No webhook yet</p>}
      {remove.error && <Problem error={remove.error} />}
      <ul className={css.hooks}>
        {data?.map((hook) => (
          <Hook key={hook.webhook_id} hook={hook} onRemove={() => setOpen(hook)} />
        ))}
      </ul>
      {open === 'new' && <WebhookDialog onClose={close} />}
      {open && open !== 'new' && (
        <Confirm
          title="Remove the webhook?"
          keep="Keep it"
          confirm="Remove"
          onClose={close}
          onConfirm={() => remove.mutate(open.webhook_id)}
        >
          The server sends no more events to <strong className={css.url}>{plain(open.url)}</strong>, and deletes the
          deliveries that wait. You cannot undo this.
        </Confirm>
      )}
    </Section>
  )
}

function useRemove() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: removeWebhook,
    // Only the list: the deliveries of the webhook are gone.
    onSettled: () => queries.invalidateQueries({ queryKey: KEY, exact: true }),
  })
}

function Hook({ hook, onRemove }: { hook: Webhook; onRemove: () => void }) {
  const test = useMutation({ mutationFn: () => testWebhook(hook.webhook_id) })
  return (
    <li className={css.hook} aria-label={plain(hook.url)}>
      <div className={css.head}>
        <strong className={css.url}>{plain(hook.url)}</strong>
        <span className={css.actions}>
          <Button icon={Send} disabled={test.isPending} onClick={() => test.mutate()}>
            Test<span className="visually-hidden"> {plain(hook.url)}</span>
          </Button>
          <Button look="quiet" compact icon={Trash2} title="Remove" onClick={onRemove}>
            {`Remove ${plain(hook.url)}`}
          </Button>
        </span>
      </div>
      <p className={css.quiet}>
        {hook.event_types.length === 0 ? 'All events' : hook.event_types.map(plain).join(', ')}
        {hook.format && ` · ${plain(hook.format)}`} · added <When at={hook.created_at} />
      </p>
      {test.error && <Problem error={test.error} />}
      {test.data && <TestOutcome key={test.data.delivery_id} sent={test.data} />}
      <DeadLetters hook={hook} />
    </li>
  )
}

/** State of a test delivery, until the receiver has responded. */
function TestOutcome({ sent }: { sent: Delivery }) {
  const { data } = useQuery({
    queryKey: [...KEY, sent.webhook_id, sent.delivery_id],
    queryFn: () => readDelivery(sent),
    refetchInterval: ({ state }) => (state.data?.status === 'pending' || !state.data ? TEST_EVERY_MS : false),
  })
  const { text, tone } = outcomeOf(data ?? sent)
  return (
    <p role="status" className={css[tone]}>
      {text}
    </p>
  )
}

function Problem({ error }: { error: unknown }) {
  return (
    <p role="alert" className={form.problem}>
      {sentence(error)}
    </p>
  )
}

/** Deliveries that failed for the last time. A replay tries one again. */
function DeadLetters({ hook }: { hook: Webhook }) {
  const queries = useQueryClient()
  const key = [...KEY, hook.webhook_id, 'dead']
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
      {problem && <Problem error={problem} />}
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
