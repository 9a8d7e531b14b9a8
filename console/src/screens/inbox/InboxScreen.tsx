import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { sentence } from '~/api/problem'
import { useShortcuts } from '~/keys/shortcuts'
import { type Item, neighbour } from '~/store/inbox'
import { Splitter } from '~/ui/Splitter'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useFleet } from '../frame/fleet-context'
import { useAnswer } from '../review/use-answer'
import { InboxDetail } from './InboxDetail'
import { InboxList } from './InboxList'
import css from './InboxScreen.module.css'
import { useInbox } from './use-inbox'

/** Everything that waits for a person, and failures of the last day. */
export function InboxScreen() {
  const { items, error, refetch, putAway } = useInbox()
  const { item: asked } = useSearch({ from: '/frame/console/inbox' })
  const navigate = useNavigate({ from: '/console/inbox' })
  const [rejecting, reject] = useState<string>()
  const box = useRef<HTMLDivElement>(null)
  // Without a selection, the first item is shown beside the list; on a narrow window, only the list.
  const item = items?.find((one) => one.key === asked) ?? (asked === undefined ? items?.[0] : undefined)
  const choose = (key: string | undefined) => {
    if (key !== rejecting) reject(undefined)
    if (key !== asked) void navigate({ search: { item: key }, replace: true })
  }
  const away = (key: string) => {
    putAway(key)
    const next = items && neighbour(items, key, 1)
    choose(next?.key === key ? neighbour(items ?? [], key, -1)?.key : next?.key)
  }
  const refusal = useInboxKeys(box, { items: items ?? [], item, choose, reject, away })
  return (
    <div ref={box} className={css.screen} data-chosen={asked !== undefined || undefined}>
      <h1>Inbox</h1>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {refusal !== null && (
        <p role="alert" className={css.refused}>
          {sentence(refusal)}
        </p>
      )}
      {items === undefined && !error && <Skeleton rows={4} label="Loading the inbox" />}
      {items?.length === 0 && <NothingToDo />}
      {items !== undefined && items.length > 0 && (
        <div className={css.panes}>
          <InboxList items={items} chosen={item?.key} onChoose={choose} />
          <Splitter name="inbox" pane="before" label="Width of the list" least={280} />
          {item ? (
            <InboxDetail
              key={item.key}
              item={item}
              isRejecting={rejecting === item.key}
              onBack={() => choose(undefined)}
              onSeen={() => away(item.key)}
            />
          ) : (
            <Empty title="This item is no longer in the inbox" />
          )}
        </div>
      )}
    </div>
  )
}

function NothingToDo() {
  const running = useFleet().fleet.rows.filter((row) => row.status === 'running' && row.sandbox.run).length
  return (
    <Empty title="No open questions">
      <p>{running === 1 ? 'One agent is running.' : `${running} agents are running.`}</p>
    </Empty>
  )
}

interface Doings {
  readonly items: readonly Item[]
  readonly item: Item | undefined
  readonly choose: (key: string | undefined) => void
  readonly reject: (key: string) => void
  readonly away: (key: string) => void
}

/** Shortcuts that answer apply only while the focus is on the item. Returns why the last answer was refused. */
function useInboxKeys(box: React.RefObject<HTMLDivElement | null>, doings: Doings): Error | null {
  const answer = useAnswer()
  const latest = useRef({ ...doings, answer: answer.mutate })
  latest.current = { ...doings, answer: answer.mutate }
  const list = useMemo(() => {
    const line = (key: string) => box.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(key)}"]`)
    const move = (by: number) => {
      const { items, item } = latest.current
      const isIn = box.current?.contains(document.activeElement) ?? false
      const next = neighbour(items, item?.key, isIn ? by : 0)
      if (next === undefined) return
      latest.current.choose(next.key)
      const target = line(next.key)
      // On a narrow window, the selected item replaces the list.
      if (target?.checkVisibility()) target.focus()
      else requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('section[data-pane]')?.focus())
    }
    /** The focused item is the target. If another item is shown, the focused one is shown first. */
    const isMeant = (item: Item) => {
      const { activeElement } = document
      if (!box.current?.contains(activeElement)) return false
      const focused = activeElement?.closest<HTMLElement>('[data-item]')?.dataset.item
      if (focused === undefined || focused === item.key) return true
      latest.current.choose(focused)
      return false
    }
    const withReview = (act: (item: Extract<Item, { kind: 'review' }>) => void) => () => {
      const { item } = latest.current
      if (item !== undefined && isMeant(item) && item.kind === 'review' && item.review.may_answer) act(item)
    }
    return [
      { keys: 'j', does: 'Next', run: () => move(1) },
      { keys: 'k', does: 'Previous', run: () => move(-1) },
      {
        keys: 'a',
        does: 'Approve the selected question',
        run: withReview(({ review }) => latest.current.answer({ review, decision: 'approve' })),
      },
      { keys: 'r', does: 'Reject it with a reason', run: withReview(({ key }) => latest.current.reject(key)) },
      {
        keys: 'e',
        does: 'Dismiss it',
        run: () => {
          const { item } = latest.current
          if (item !== undefined && isMeant(item) && item.kind !== 'review') latest.current.away(item.key)
        },
      },
    ]
  }, [box])
  useShortcuts('Inbox', list)
  return answer.error
}
