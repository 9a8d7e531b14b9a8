import type { FleetRow } from '~/store/fleet'
import { isIdle } from '~/store/fleet-view'
import { money } from '~/ui/format'
import css from './FleetScreen.module.css'

/** Summary of the agents' activity in one line. */
export function Summary({ rows }: { rows: readonly FleetRow[] }) {
  const idle = rows.filter(isIdle).length
  const running = rows.filter((row) => row.status === 'running').length - idle
  const waiting = rows.reduce((sum, row) => sum + row.pendingReviews, 0)
  const cost = rows.reduce((sum, row) => sum + row.costUsd, 0)
  return (
    <dl className={css.summary}>
      <Fact name="running" value={running} />
      {idle > 0 && <Fact name="idle" value={idle} />}
      {waiting > 0 && <Fact name={waiting === 1 ? 'review pending' : 'reviews pending'} value={waiting} tone="warn" />}
      <Fact name="spent" value={money(cost)} />
    </dl>
  )
}

function Fact({ name, value, tone }: { name: string; value: string | number; tone?: 'warn' }) {
  return (
    <div className={css.fact} data-tone={tone}>
      <dd>{value}</dd>
      <dt>{name}</dt>
    </div>
  )
}
