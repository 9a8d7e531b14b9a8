import { ArrowDown } from 'lucide-react'
import { whole } from './format'
import css from './ToEnd.module.css'

/** Button over the end of a growing list: number of new rows, and a jump to the end. */
export function ToEnd({ news, onClick }: { news: number; onClick: () => void }) {
  return (
    <button type="button" className={css.toEnd} onClick={onClick}>
      <ArrowDown size={15} aria-hidden />
      {news > 0 ? `${whole(news)} new` : 'To the end'}
    </button>
  )
}
