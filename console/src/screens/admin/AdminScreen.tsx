import { Link, useRouteContext, useSearch } from '@tanstack/react-router'
import { Empty } from '~/ui/States'
import css from './Admin.module.css'
import { AuditPart } from './AuditPart'
import { KeysPart } from './KeysPart'
import { OverduePart } from './OverduePart'
import { PARTS, type Part } from './parts'

const SHOWN: Readonly<Record<Part, () => React.ReactNode>> = {
  keys: () => <KeysPart />,
  audit: () => <AuditPart />,
  sandboxes: () => <OverduePart />,
}

/** Administration: keys, the audit log, and overdue sandboxes. */
export function AdminScreen() {
  const { session } = useRouteContext({ from: '/frame' })
  const { part = 'keys' } = useSearch({ from: '/frame/console/admin' })
  if (!session.is_admin) {
    return (
      <Empty title="Only the admin has access">
        <p>
          You are signed in as {session.user_id}. The tab Sharing of a sandbox shows the audit log of your own sandbox.
        </p>
        <Link to="/console">Go to the fleet</Link>
      </Empty>
    )
  }
  return (
    <div className={css.screen}>
      <header className={css.header}>
        <h1>Admin</h1>
        <nav aria-label="Parts of the administration" className={css.parts}>
          {PARTS.map(({ id, label }) => (
            <Link
              key={id}
              to="/console/admin"
              search={{ part: id }}
              className={css.part}
              aria-current={id === part ? 'page' : undefined}
            >
              {label}
            </Link>
          ))}
        </nav>
        <Link to="/console" className={css.elsewhere}>
          Pool and machine: see the fleet
        </Link>
      </header>
      {SHOWN[part]()}
    </div>
  )
}
