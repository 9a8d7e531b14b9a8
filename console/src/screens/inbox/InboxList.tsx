import { CircleDollarSign, CircleX, MessageCircleQuestion, ShieldAlert } from 'lucide-react'
import type { Item } from '~/store/inbox'
import { ago, moment, money, plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './InboxScreen.module.css'

interface Props {
  readonly items: readonly Item[]
  readonly chosen: string | undefined
  readonly onChoose: (key: string) => void
}

/** List of open items. The selection stays on its item when the list changes. */
export function InboxList({ items, chosen, onChoose }: Props) {
  return (
    <ul className={css.list} aria-label="Inbox" data-pane>
      {items.map((item) => (
        <li key={item.key}>
          <button
            type="button"
            className={css.item}
            data-item={item.key}
            data-locked={(item.kind === 'review' && item.review.status !== 'pending') || undefined}
            aria-current={item.key === chosen || undefined}
            onClick={() => onChoose(item.key)}
          >
            <Mark item={item} />
            <span className={css.words}>
              <span className={css.what}>{plain(headline(item))}</span>
              <span className={css.under}>
                {plain(item.title)} · {item.owner}
              </span>
            </span>
            <Times item={item} />
          </button>
        </li>
      ))}
    </ul>
  )
}

function headline(item: Item): string {
  switch (item.kind) {
    case 'review':
      return item.review.status === 'pending' ? item.review.reason : `${item.review.reason} (${item.review.status})`
    case 'failure':
      return item.isBudget ? 'The budget is exhausted' : `Failed: ${item.reason}`
    case 'intervention':
      return `Intervention: ${item.message}`
  }
}

const MARKS = {
  review: { icon: MessageCircleQuestion, tone: 'warn', word: 'Question' },
  failure: { icon: CircleX, tone: 'bad', word: 'Failed run' },
  budget: { icon: CircleDollarSign, tone: 'bad', word: 'Budget' },
  intervention: { icon: ShieldAlert, tone: 'info', word: 'Intervention' },
} as const

function Mark({ item }: { item: Item }) {
  const { icon: Icon, tone, word } = MARKS[item.kind === 'failure' && item.isBudget ? 'budget' : item.kind]
  return (
    <span className={css.mark} data-tone={tone}>
      <Icon size={18} aria-hidden />
      <span className="visually-hidden">{word}: </span>
    </span>
  )
}

function Times({ item }: { item: Item }) {
  const now = useNow()
  const left =
    item.kind === 'review' && item.review.status === 'pending' ? Date.parse(item.review.deadline) - now : undefined
  return (
    <span className={css.times}>
      <time dateTime={item.at} title={moment(item.at)}>
        {ago(now - Date.parse(item.at))}
      </time>
      {left !== undefined && left > 0 && <span>{span(left)} left</span>}
      {item.kind === 'failure' && <span>{money(item.run.cost_usd)}</span>}
    </span>
  )
}
