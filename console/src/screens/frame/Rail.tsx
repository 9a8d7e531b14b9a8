import { Link } from '@tanstack/react-router'
import { Boxes, Keyboard, Sprout } from 'lucide-react'
import css from './Frame.module.css'

export function Rail({ onKeys }: { onKeys: () => void }) {
  return (
    <nav className={css.rail} aria-label="Main">
      <span className={css.brand}>
        <Sprout size={24} aria-hidden />
        <span className="visually-hidden">Vivarium</span>
      </span>
      <Link to="/console" className={css.place} activeOptions={{ exact: true, includeSearch: false }}>
        <Boxes size={20} aria-hidden />
        Fleet
      </Link>
      <button type="button" className={`${css.place} ${css.last}`} onClick={onKeys}>
        <Keyboard size={20} aria-hidden />
        Keys
      </button>
    </nav>
  )
}
