import { Link, useRouteContext } from '@tanstack/react-router'
import { Bell, Boxes, Inbox, Keyboard, Plus, Settings, ShieldCheck, Sprout, Workflow } from 'lucide-react'
import { openCount } from '~/store/alerts'
import { useAlertNews, useAlerts } from '../alerts/use-alerts'
import { useWaiting } from '../inbox/use-waiting'
import css from './Frame.module.css'

const MOST_IN_BADGE = 99

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
      <Link to="/console/tasks" className={css.place} activeOptions={{ includeSearch: false }}>
        <Workflow size={20} aria-hidden />
        Tasks
      </Link>
      <Link to="/console/spawn" className={css.place} activeOptions={{ includeSearch: false }}>
        <Plus size={20} aria-hidden />
        New
      </Link>
      <AlertsPlace />
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

/** Link to the alerts, if the server has them, with the number of alerts that need a person. */
function AlertsPlace() {
  useAlertNews()
  const { data } = useAlerts()
  if (!data) return null
  const open = openCount(data)
  return (
    <Link to="/console/alerts" className={css.place} activeOptions={{ includeSearch: false }}>
      <Bell size={20} aria-hidden />
      Alerts
      {open > 0 && (
        <span className={css.badge}>
          {open > MOST_IN_BADGE ? `${MOST_IN_BADGE}+` : open}
          <span className="visually-hidden"> open</span>
        </span>
      )}
    </Link>
  )
}
