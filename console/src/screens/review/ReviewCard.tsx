import { Lock, MessageCircleQuestion } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { sentence } from '~/api/problem'
import type { Review } from '~/api/types'
import { Button } from '~/ui/Button'
import { ago, plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import { Prose } from '~/ui/Prose'
import css from './ReviewCard.module.css'
import { useAnswer } from './use-answer'

interface Props {
  readonly review: Review
  readonly mayAnswer?: boolean
  /** The user rejects: the box for the reason has the focus, and Enter sends it. */
  readonly isRejecting?: boolean
  /** Origin of the question, if the context does not show it. */
  readonly children?: ReactNode
}

/** Question of an agent with its context, or with its answer. */
export function ReviewCard({ review, mayAnswer = true, isRejecting = false, children }: Props) {
  return (
    <section className={css.card} aria-label={`The agent asks: ${plain(review.reason)} (${review.review_id})`}>
      <h2 className={css.title}>
        <MessageCircleQuestion size={18} aria-hidden />
        {plain(review.reason)}
        {review.status === 'pending' && <Deadline at={review.deadline} />}
      </h2>
      {children}
      <Prose>{review.description}</Prose>
      {review.status !== 'pending' ? (
        <Answered review={review} />
      ) : mayAnswer ? (
        <Answer review={review} isRejecting={isRejecting} />
      ) : (
        <p className={css.deadline}>You may read this review, but not answer it.</p>
      )}
    </section>
  )
}

function Answer({ review, isRejecting }: { review: Review; isRejecting: boolean }) {
  const [comment, setComment] = useState('')
  const box = useRef<HTMLInputElement>(null)
  const { mutate, isPending, error } = useAnswer()
  const answer = (decision: string) => mutate({ review, decision, comment: comment.trim() || undefined })
  useEffect(() => {
    if (isRejecting) box.current?.focus()
  }, [isRejecting])
  return (
    <>
      <form
        className={css.answer}
        onSubmit={(event) => {
          event.preventDefault()
          // Enter alone does not answer, because the choice is not clear.
          if (isRejecting) answer('reject')
        }}
      >
        <input
          ref={box}
          value={comment}
          placeholder={isRejecting ? 'Reason (Enter rejects)' : 'Comment (optional)'}
          aria-label={isRejecting ? 'Reason' : 'Comment'}
          onChange={(event) => setComment(event.target.value)}
        />
        {review.choices.map((choice) => (
          <Button key={choice.id} disabled={isPending} onClick={() => answer(choice.id)}>
            {plain(choice.label)}
          </Button>
        ))}
        <Button look="danger" disabled={isPending} onClick={() => answer('reject')}>
          Reject
        </Button>
        {review.choices.length === 0 && (
          <Button look="primary" disabled={isPending} onClick={() => answer('approve')}>
            Approve
          </Button>
        )}
      </form>
      {error && (
        <p role="alert" className={css.problem}>
          {sentence(error)}
        </p>
      )}
    </>
  )
}

const OUTCOMES: Partial<Record<Review['status'], string>> = {
  approved: 'Approved',
  rejected: 'Rejected',
  answered: 'Answered',
  expired: 'Expired without an answer',
  cancelled: 'Cancelled: the run ended',
}

function Answered({ review }: { review: Review }) {
  const now = useNow()
  const chosen =
    review.status === 'answered' && review.decision !== undefined
      ? `: ${plain(review.decision_label ?? review.decision)}`
      : ''
  return (
    <p className={css.answered} role="status">
      <Lock size={15} aria-hidden />
      <span>
        {OUTCOMES[review.status]}
        {chosen}
        {review.answered_by && ` by ${review.answered_by}`}
        {review.answered_at && ` ${since(now - Date.parse(review.answered_at))}`}
        {review.comment && `: “${plain(review.comment)}”`}
      </span>
    </p>
  )
}

function since(ms: number): string {
  return ms < 1000 ? 'just now' : `${ago(ms)} ago`
}

function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow()
  return <span className={css.deadline}>{left > 0 ? `${span(left)} left` : 'expired'}</span>
}
