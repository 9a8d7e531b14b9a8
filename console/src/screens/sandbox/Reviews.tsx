import type { Sandbox } from '~/api/types'
import { plain } from '~/ui/format'
import { ReviewCard } from '../review/ReviewCard'
import { useMay } from './use-may'
import { useReviews } from './use-watch'

/** Open questions of the agent, visible until they are answered. */
export function Reviews({ sandbox }: { sandbox: Sandbox }) {
  const { data = [] } = useReviews(sandbox.sandbox_id)
  const may = useMay(sandbox)
  const pending = data.filter((review) => review.status === 'pending')
  return (
    <>
      <p role="alert" className="visually-hidden">
        {pending[0] && `The agent asks: ${plain(pending[0].reason)}`}
      </p>
      {pending.map((review) => (
        <ReviewCard key={review.review_id} review={review} mayAnswer={may('process')} />
      ))}
    </>
  )
}
