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

/** For whoever runs the server: keys, the audit, and sandboxes that need a hand. */
export function AdminScreen() {
  const { session } = useRouteContext({ from: '/frame' })
  const { part = 'keys' } = useSearch({ from: '/frame/console/admin' })
  if (!session.is_admin) {
    return (
      <Empty title="This is for the admin">
        <p>
          You are signed in as {session.user_id}. Keys, the audit and the sandboxes of others are for whoever runs the
          server; the audit of your own sandbox is in its tab Sharing.
        </p>
        <Link to="/console">To the fleet</Link>
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
          Pool and machine: in the fleet
        </Link>
      </header>
      {SHOWN[part]()}
    </div>
  )
}
