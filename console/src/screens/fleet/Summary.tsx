import { useQuery } from '@tanstack/react-query'
import { api, body } from '~/api/client'
import type { FleetRow } from '~/store/fleet'
import { money } from '~/ui/format'
import css from './FleetScreen.module.css'

const EVERY_MS = 15_000

/** The server and its fleet in one line. */
export function Summary({ rows }: { rows: readonly FleetRow[] }) {
  const { data: health } = useQuery({
    queryKey: ['health'],
    queryFn: () => body(api.GET('/health')),
    refetchInterval: EVERY_MS,
  })
  const running = rows.filter((row) => row.status === 'running').length
  const waiting = rows.reduce((sum, row) => sum + row.pendingReviews, 0)
  const cost = rows.reduce((sum, row) => sum + row.costUsd, 0)
  return (
    <dl className={css.summary}>
      <Fact name="running" value={running} />
      {waiting > 0 && <Fact name={waiting === 1 ? 'review waits' : 'reviews wait'} value={waiting} tone="warn" />}
      <Fact name="spent" value={money(cost)} />
      {health && <Fact name={`of ${health.max_sessions} sandboxes`} value={health.active_sessions} />}
      {health && <Fact name={`of ${health.pool_size} warm`} value={health.pool_available} />}
      {health?.status === 'unhealthy' && <Fact name="server" value="unhealthy" tone="bad" />}
    </dl>
  )
}

function Fact({ name, value, tone }: { name: string; value: string | number; tone?: 'warn' | 'bad' }) {
  return (
    <div className={css.fact} data-tone={tone}>
      <dd>{value}</dd>
      <dt>{name}</dt>
    </div>
  )
}
