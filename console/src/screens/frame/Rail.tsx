import { Link, useRouteContext } from '@tanstack/react-router'
import { Boxes, Inbox, Keyboard, Plus, Settings, ShieldCheck, Sprout } from 'lucide-react'
import { useWaiting } from '../inbox/use-waiting'
import css from './Frame.module.css'

export function Rail({ onKeys }: { onKeys: () => void }) {
  const waiting = useWaiting()
  const { session } = useRouteContext({ from: '/frame' })
  return (
    <nav className={css.rail} aria-label="Main" data-pane>
      <span className={css.brand}>
        <Sprout size={24} aria-hidden />
        <span className="visually-hidden">Vivarium</span>
      </span>
      <Link to="/console/inbox" className={css.place}>
        <Inbox size={20} aria-hidden />
        Inbox
        {waiting > 0 && (
          <span className={css.badge}>
            {waiting}
            <span className="visually-hidden"> waiting</span>
          </span>
        )}
      </Link>
      <Link to="/console" className={css.place} activeOptions={{ exact: true, includeSearch: false }}>
        <Boxes size={20} aria-hidden />
        Fleet
      </Link>
      <Link to="/console/spawn" className={css.place} activeOptions={{ includeSearch: false }}>
        <Plus size={20} aria-hidden />
        New
      </Link>
      {session.is_admin && (
        <Link to="/console/admin" className={css.place} activeOptions={{ includeSearch: false }}>
          <ShieldCheck size={20} aria-hidden />
          Admin
        </Link>
      )}
      <Link to="/console/settings" className={`${css.place} ${css.last}`}>
        <Settings size={20} aria-hidden />
        Settings
      </Link>
      <button type="button" className={css.place} onClick={onKeys}>
        <Keyboard size={20} aria-hidden />
        Shortcuts
      </button>
    </nav>
  )
}
