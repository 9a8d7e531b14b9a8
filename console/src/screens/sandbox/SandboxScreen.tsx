import { Link, useParams, useSearch } from '@tanstack/react-router'
import { Suspense, useEffect } from 'react'
import { ApiError } from '~/api/problem'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { Header } from './Header'
import css from './SandboxScreen.module.css'
import { TabBar } from './TabBar'
import { TABS } from './tabs'
import { useActions } from './use-actions'
import { useDetails, useWatch } from './use-watch'

const ROUTE = '/frame/console/sandboxes/$sandboxId'

/** One sandbox: its events and all actions. */
export function SandboxScreen() {
  const { sandboxId } = useParams({ from: ROUTE })
  // Another sandbox is another screen and keeps no state.
  return <OneSandbox key={sandboxId} sandboxId={sandboxId} />
}

function OneSandbox({ sandboxId }: { sandboxId: string }) {
  const watch = useWatch(sandboxId)
  const details = useDetails(sandboxId)
  const actions = useActions(sandboxId)
  const events = watch?.events
  const chosen = useSearch({ from: ROUTE, select: (search) => search.tab })
  const tab = TABS.find((each) => each.id === chosen) ?? TABS[0]

  useEffect(() => {
    const run = details.data?.sandbox.run
    if (events !== undefined && run !== undefined) events.settle(run, details.data?.seq ?? 0)
  }, [events, details.data])
  const connection = watch?.state.kind
  const { refetch } = details
  const hasEnded = details.data?.sandbox.end !== undefined
  useEffect(() => {
    if (hasEnded) watch?.ended()
  }, [watch, hasEnded])

  useEffect(() => {
    // A closed stream may mean that the invitation has ended.
    if (connection === 'reconnecting' || connection === 'ended') void refetch()
  }, [connection, refetch])

  const failure = details.error ?? watch?.failure
  if (details.data !== undefined && isShut(details.error)) return <Shut />
  if (details.data === undefined || watch === undefined || !watch.events.isOpen) {
    if (failure) return <Failure isPage error={failure} onRetry={() => void details.refetch()} />
    return <Skeleton rows={10} label="Loading the sandbox" />
  }
  const { sandbox } = details.data
  return (
    <div className={css.screen}>
      <Header sandbox={sandbox} watch={watch} actions={actions} />
      <TabBar sandboxId={sandboxId} chosen={tab.id} />
      <div className={css.panel} role="tabpanel" aria-labelledby={`tab-${tab.id}`}>
        <Suspense fallback={<Skeleton rows={10} label={`Loading: ${tab.label}`} />}>
          <tab.Panel sandbox={sandbox} watch={watch} actions={actions} />
        </Suspense>
      </div>
    </div>
  )
}

/** Whether the server no longer shows the sandbox to the user. */
function isShut(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 403 || error.status === 404)
}

function Shut() {
  return (
    <Empty title="You no longer have access to this sandbox">
      <p role="alert">The owner removed or changed your membership, or the sandbox was deleted.</p>
      <Link to="/console">Go to the fleet</Link>
    </Empty>
  )
}
