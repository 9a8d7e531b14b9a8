import { Link, useRouteContext } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { Sandbox } from '~/api/types'
import { fold, withoutOwnLooks } from '~/store/audit'
import { Button } from '~/ui/Button'
import { Section } from '~/ui/Section'
import { Failure, Skeleton } from '~/ui/States'
import { AuditList } from '../admin/AuditList'
import css from './Sharing.module.css'
import { useRecent } from './use-sharing'

const FEW = 12

/** Recent operations on this sandbox. */
export function Recent({ sandbox }: { sandbox: Sandbox }) {
  const { session } = useRouteContext({ from: '/frame' })
  const { data, error, refetch } = useRecent(sandbox, true)
  const [isAll, setAll] = useState(false)
  const me = session.user_id
  const lines = useMemo(() => fold(withoutOwnLooks(data ?? [], me)), [data, me])
  const shown = isAll ? lines : lines.slice(0, FEW)
  return (
    <Section
      title="Recent accesses"
      about="Recent changes from the audit log, without reads. The timeline shows the agent's actions."
      actions={
        session.is_admin && (
          <Link to="/console/admin" search={{ part: 'audit', sandbox: sandbox.sandbox_id }}>
            In the audit
          </Link>
        )
      }
    >
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton rows={4} label="Loading the audit" />}
      {data && lines.length === 0 && <p className={css.quiet}>No entries yet.</p>}
      <AuditList lines={shown} isNarrow />
      {lines.length > FEW && !isAll && (
        <Button className={css.more} onClick={() => setAll(true)}>
          {`Show ${lines.length - FEW} more`}
        </Button>
      )}
    </Section>
  )
}
