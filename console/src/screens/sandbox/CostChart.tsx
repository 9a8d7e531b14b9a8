import type { CostPoint } from '~/store/counters'
import { clock, money } from '~/ui/format'
import css from './Facts.module.css'

const WIDTH = 240
const HEIGHT = 56

/** The cost over time, as steps: money is spent at moments. */
export function CostChart({ points }: { points: readonly CostPoint[] }) {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined || first === last || last.costUsd === 0) return null
  const x = (point: CostPoint) => ((point.at - first.at) / (last.at - first.at || 1)) * WIDTH
  const y = (point: CostPoint) => HEIGHT - (point.costUsd / last.costUsd) * HEIGHT
  const steps = points.slice(1).map((point) => `H${x(point).toFixed(1)}V${y(point).toFixed(1)}`)
  const path = `M0 ${y(first).toFixed(1)}${steps.join('')}`
  const label = `Cost of the events shown: ${money(last.costUsd)} from ${clock(first.at)} to ${clock(last.at)}`
  return (
    <svg className={css.chart} viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`} role="img" aria-label={label}>
      <title>{label}</title>
      <path className={css.area} d={`${path}V${HEIGHT}H0Z`} />
      <path className={css.curve} d={path} />
    </svg>
  )
}
