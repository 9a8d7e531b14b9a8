import { MessageCircleQuestion } from 'lucide-react'
import { useState } from 'react'
import { sentence } from '~/api/problem'
import type { Review } from '~/api/types'
import { Button } from '~/ui/Button'
import { plain, span } from '~/ui/format'
import { useNow } from '~/ui/now'
import css from './Reviews.module.css'
import type { Actions } from './use-actions'
import { useReviews } from './use-watch'

/** What the agent waits for, in sight until it is answered. */
export function Reviews({ sandboxId, actions }: { sandboxId: string; actions: Actions }) {
  const { data = [] } = useReviews(sandboxId)
  const pending = data.filter((review) => review.status === 'pending')
  return pending.map((review) => <ReviewCard key={review.review_id} review={review} actions={actions} />)
}

function ReviewCard({ review, actions }: { review: Review; actions: Actions }) {
  const [comment, setComment] = useState('')
  const { mutate, isPending, error } = actions.answer
  const answer = (decision: string) => {
    mutate({ reviewId: review.review_id, decision, comment: comment.trim() || undefined })
  }
  return (
    <section className={css.card} aria-label="The agent asks">
      <h2 className={css.title}>
        <MessageCircleQuestion size={18} aria-hidden />
        {plain(review.reason)}
        <Deadline at={review.deadline} />
      </h2>
      <p role="alert" className="visually-hidden">
        The agent asks: {plain(review.reason)}
      </p>
      <p className={css.description}>{plain(review.description)}</p>
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
    </section>
  )
}

function Deadline({ at }: { at: string }) {
  const left = Date.parse(at) - useNow()
  return <span className={css.deadline}>{left > 0 ? `${span(left)} left` : 'out of time'}</span>
}
