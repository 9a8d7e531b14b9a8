import { useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import type { Status } from '~/api/types'
import { useShortcuts } from '~/keys/shortcuts'
import { arrange } from '~/store/fleet-view'
import { Button } from '~/ui/Button'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useFleet } from '../frame/fleet-context'
import { NodeStrip } from '../node/NodeStrip'
import { FirstSteps } from './FirstSteps'
import css from './FleetScreen.module.css'
import { FleetTable } from './FleetTable'
import { FleetTools } from './FleetTools'
import { Summary } from './Summary'

const ENDED: ReadonlySet<Status> = new Set(['completed', 'failed', 'terminated'])

/** All sandboxes, live. The address contains the filter, so that a view can be shared. */
export function FleetScreen() {
  const watch = useFleet()
  const { fleet } = watch
  const search = useSearch({ from: '/frame/console' })
  const navigate = useNavigate({ from: '/console' })
  const filterBox = useRef<HTMLInputElement>(null)
  const { q = '', status, sort = 'activity', ended = false } = search
  const rows = useMemo(() => arrange(fleet.rows, { q, status, sort }), [fleet.rows, q, status, sort])
  const withEnded = ended || (status !== undefined && ENDED.has(status))
  useEffect(() => watch.setWithEnded(withEnded), [watch, withEnded])
  const clear = () => void navigate({ search: { sort: search.sort } })

  useShortcuts(
    'Fleet',
    useMemo(() => [{ keys: '/', does: 'Filter', run: () => filterBox.current?.focus() }], []),
  )

  return (
    <div className={css.screen}>
      <header className={css.header}>
        <h1>Fleet</h1>
        <Summary rows={fleet.rows} />
        <Button look="primary" icon={Plus} title="n" onClick={() => void navigate({ to: '/console/spawn' })}>
          New sandbox
        </Button>
      </header>
      <NodeStrip />
      <FleetTools
        ref={filterBox}
        choice={{ q, status, sort, ended }}
        onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true })}
      />
      {watch.failure !== undefined && <Failure error={watch.failure} onRetry={() => void watch.load()} />}
      {!fleet.isLoaded && watch.failure === undefined && <Skeleton rows={8} label="Loading the fleet" />}
      {fleet.isLoaded && fleet.rows.length === 0 && <FirstSteps />}
      {fleet.rows.length > 0 && rows.length === 0 && (
        <Empty title={`0 of ${fleet.rows.length} match`}>
          <Button onClick={clear}>Clear the filter</Button>
        </Empty>
      )}
      {rows.length > 0 && <FleetTable rows={rows} arrangement={`${q}|${status}|${sort}`} />}
    </div>
  )
}
