import { MessageCircleQuestion } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { sentence } from '~/api/problem'
import type { Review } from '~/api/types'
import { Button } from '~/ui/Button'
import { plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './ReviewCard.module.css'
import { useAnswer } from './use-answer'

interface Props {
  readonly review: Review
  readonly mayAnswer?: boolean
  /** Where the question comes from, where that is not plain. */
  readonly children?: ReactNode
}

/** A question of an agent, with what is needed to answer it. */
export function ReviewCard({ review, mayAnswer = true, children }: Props) {
  return (
    <section className={css.card} aria-label={`The agent asks: ${plain(review.reason)} (${review.review_id})`}>
      <h2 className={css.title}>
        <MessageCircleQuestion size={18} aria-hidden />
        {plain(review.reason)}
        <Deadline at={review.deadline} />
      </h2>
      {children}
      <p className={css.description}>{plain(review.description)}</p>
      {mayAnswer ? <Answer review={review} /> : <p className={css.deadline}>You may watch this, not answer it.</p>}
    </section>
  )
}

function Answer({ review }: { review: Review }) {
  const [comment, setComment] = useState('')
  const { mutate, isPending, error } = useAnswer(review)
  const answer = (decision: string) => mutate({ decision, comment: comment.trim() || undefined })
  return (
    <>
      <div className={css.answer}>
        <input
          value={comment}
          placeholder="A word with it (optional)"
          aria-label="Comment"
          onChange={(event) => setComment(event.target.value)}
        />
        {review.options.map((option) => (
          <Button key={option} disabled={isPending} onClick={() => answer(option)}>
            {plain(option)}
          </Button>
        ))}
        <Button look="danger" disabled={isPending} onClick={() => answer('reject')}>
          Reject
        </Button>
        <Button look="primary" disabled={isPending} onClick={() => answer('approve')}>
          Approve
        </Button>
      </div>
      {error && (
        <p role="alert" className={css.problem}>
          {sentence(error)}
        </p>
      )}
    </>
  )
}

function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow()
  return <span className={css.deadline}>{left > 0 ? `${span(left)} left` : 'out of time'}</span>
}
