import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, body } from '~/api/client'
import { plain } from '~/ui/format'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useFleet } from '../frame/fleet-context'
import { ReviewCard } from '../review/ReviewCard'
import css from './InboxScreen.module.css'
import { useWaiting } from './use-waiting'

const EVERY_MS = 30_000

/** All that waits for a person, of all agents, oldest first: who asked first has waited longest. */
export function InboxScreen() {
  const waiting = useWaiting()
  const { fleet } = useFleet()
  const { data, error, refetch } = useQuery({
    // Another number of questions is another list.
    queryKey: ['inbox', waiting],
    queryFn: async () => {
      const params = { query: { status: 'pending' as const } }
      return (await body(api.GET('/api/v1/reviews', { params }))).reviews.toReversed()
    },
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  })
  const running = fleet.rows.filter((row) => row.status === 'running').length
  return (
    <div className={css.screen}>
      <h1>Inbox</h1>
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={4} label="Loading the inbox" />}
      {data?.length === 0 && (
        <Empty title="Nothing needs you">
          <p>{running === 1 ? 'One agent is at work.' : `${running} agents are at work.`}</p>
        </Empty>
      )}
      {data?.map((review) => (
        <ReviewCard key={review.review_id} review={review} mayAnswer={review.may_answer}>
          <p className={css.from}>
            <Link to="/console/sandboxes/$sandboxId" params={{ sandboxId: review.sandbox_id }}>
              {plain(review.task_title)}
            </Link>{' '}
            of {review.user_id}
          </p>
        </ReviewCard>
      ))}
    </div>
  )
}
