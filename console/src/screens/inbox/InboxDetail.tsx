import { Link } from '@tanstack/react-router'
import { ArrowLeft, Check } from 'lucide-react'
import type { Item } from '~/store/inbox'
import { Button } from '~/ui/Button'
import { Clamp } from '~/ui/Clamp'
import { moment, money, plain } from '~/ui/format'
import { ReviewCard } from '../review/ReviewCard'
import { Around } from './Around'
import css from './InboxScreen.module.css'

interface Props {
  readonly item: Item
  readonly isRejecting: boolean
  readonly onBack: () => void
  readonly onSeen: () => void
}

/** One item with everything that is needed to answer it. The question stays visible while the user answers. */
export function InboxDetail({ item, isRejecting, onBack, onSeen }: Props) {
  return (
    <section className={css.detail} aria-label="Details" data-pane tabIndex={-1}>
      <div className={css.back}>
        <Button look="quiet" icon={ArrowLeft} onClick={onBack}>
          To the list
        </Button>
      </div>
      <header className={css.detailHead}>
        <h2>
          <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: item.sandboxId }}>
            {plain(item.title)}
          </Link>
        </h2>
        <p className={css.from}>
          of {item.owner}, {moment(item.at)}
        </p>
      </header>
      <Matter item={item} isRejecting={isRejecting} onSeen={onSeen} />
      <Around sandboxId={item.sandboxId} seq={item.kind === 'intervention' ? item.seq : undefined} />
    </section>
  )
}

function Matter({ item, isRejecting, onSeen }: Omit<Props, 'onBack'>) {
  switch (item.kind) {
    case 'review':
      return (
        <ReviewCard
          key={item.key}
          review={item.review}
          mayAnswer={item.review.status !== 'pending' || item.review.may_answer}
          isRejecting={isRejecting}
        />
      )
    case 'failure':
      return (
        <div className={css.matter} data-tone="bad">
          <Clamp lines={8} of="failure" isCode>
            {plain(item.reason.trim())}
          </Clamp>
          <p className={css.from}>
            {item.run.runtime} · {money(item.run.cost_usd)}
            {item.run.budget_usd !== undefined && ` of ${money(item.run.budget_usd)}`} · {item.run.tool_calls} tool
            calls
          </p>
          <div className={css.doings}>
            <Link to="/console/spawn" search={{ from: item.sandboxId }}>
              Continue in a new sandbox
            </Link>
            <Seen onSeen={onSeen} />
          </div>
        </div>
      )
    case 'intervention':
      return (
        <div className={css.matter} data-tone="info">
          <p className={css.from}>{item.by} sent to the agent:</p>
          <p className={css.reason}>{plain(item.message)}</p>
          <div className={css.doings}>
            <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: item.sandboxId }} search={{ at: item.seq }}>
              Event {item.seq}
            </Link>
            <Seen onSeen={onSeen} />
          </div>
        </div>
      )
  }
}

function Seen({ onSeen }: { onSeen: () => void }) {
  return (
    <Button icon={Check} onClick={onSeen} title="e">
      Dismiss
    </Button>
  )
}
