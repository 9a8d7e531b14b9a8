import css from './Sparkline.module.css'

const WIDTH = 72
const HEIGHT = 20

/** Small line chart; the last value is its accessible text. */
export function Sparkline({ values, most, label }: { values: readonly number[]; most: number; label: string }) {
  if (values.length < 2) return null
  const top = Math.max(most, ...values)
  const step = WIDTH / (values.length - 1)
  const points = values.map(
    (value, index) => `${(index * step).toFixed(1)},${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`,
  )
  return (
    <svg className={css.line} viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} role="img" aria-label={label}>
      <polyline points={points.join(' ')} />
    </svg>
  )
}
