import { ArrowDown } from 'lucide-react'
import { whole } from './format'
import css from './ToEnd.module.css'

/** Over the end of a list that grows while one reads further up: how much is new, and the way there. */
export function ToEnd({ news, onClick }: { news: number; onClick: () => void }) {
  return (
    <button type="button" className={css.toEnd} onClick={onClick}>
      <ArrowDown size={15} aria-hidden />
      {news > 0 ? `${whole(news)} new` : 'To the end'}
    </button>
  )
}
