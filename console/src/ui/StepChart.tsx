import { clock } from './format'
import css from './StepChart.module.css'

export interface Step {
  readonly at: number
  readonly value: number
}

interface Props {
  readonly lines: readonly { readonly name: string; readonly steps: readonly Step[] }[]
  /** Limit, drawn as a line. */
  readonly limit?: number
  /** Highlighted moment. */
  readonly at?: number
  /** Format of a value on its axis. */
  readonly show: (value: number) => string
  /** Number of intervals of each axis. */
  readonly parts: number
}

const WIDTH = 1000
const HEIGHT = 200

/**
 * Chart of sums over time, drawn as steps. Lines differ by dashes, not by colour alone. The chart fills its box and has
 * an axis for the values and one for the times. Screen readers skip the chart: the caller must show the same in words.
 */
export function StepChart({ lines, limit, at, show, parts }: Props) {
  const steps = lines.flatMap((line) => line.steps)
  const from = Math.min(...steps.map((step) => step.at))
  const to = Math.max(...steps.map((step) => step.at))
  const most = Math.max(limit ?? 0, ...steps.map((step) => step.value)) || 1
  const x = (time: number) => ((time - from) / (to - from || 1)) * WIDTH
  const y = (value: number) => HEIGHT - (value / most) * HEIGHT
  const shares = Array.from({ length: parts + 1 }, (_, part) => part / parts)
  return (
    <span className={css.figure} aria-hidden>
      <span className={css.values}>
        {shares.toReversed().map((share) => (
          <span key={share}>{show(most * share)}</span>
        ))}
      </span>
      <svg className={css.chart} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden>
        {shares.map((share) => (
          <line key={share} className={css.grid} x1={0} x2={WIDTH} y1={y(most * share)} y2={y(most * share)} />
        ))}
        {limit !== undefined && <line className={css.limit} x1={0} x2={WIDTH} y1={y(limit)} y2={y(limit)} />}
        {lines.map((line, index) => (
          <path key={line.name} className={css.line} data-line={index} d={path(line.steps, x, y)} />
        ))}
        {at !== undefined && <line className={css.moment} x1={clamp(x(at))} x2={clamp(x(at))} y1={0} y2={HEIGHT} />}
      </svg>
      <span className={css.times}>
        {shares.map((share) => (
          <time key={share}>{clock(from + (to - from) * share)}</time>
        ))}
      </span>
    </span>
  )
}

function path(steps: readonly Step[], x: (time: number) => number, y: (value: number) => number): string {
  const [first, ...rest] = steps
  if (first === undefined) return ''
  const drawn = rest.map((step) => `H${x(step.at).toFixed(1)}V${y(step.value).toFixed(1)}`)
  return `M0 ${y(first.value).toFixed(1)}${drawn.join('')}H${WIDTH}`
}

function clamp(x: number): number {
  return Math.max(0, Math.min(x, WIDTH))
}
