import { useParams } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Failure, Skeleton } from '~/ui/States'
import { Composer } from './Composer'
import { Facts } from './Facts'
import { Header } from './Header'
import { Reviews } from './Reviews'
import css from './SandboxScreen.module.css'
import { TimelineList } from './TimelineList'
import { useActions } from './use-actions'
import { useDetails, useWatch } from './use-watch'

/** One sandbox: what happens in it, and all that a person can do about it. */
export function SandboxScreen() {
  const { sandboxId } = useParams({ from: '/frame/console/sandboxes/$sandboxId' })
  // Another sandbox is another screen: nothing of the first may stay.
  return <OneSandbox key={sandboxId} sandboxId={sandboxId} />
}

function OneSandbox({ sandboxId }: { sandboxId: string }) {
  const watch = useWatch(sandboxId)
  const details = useDetails(sandboxId)
  const actions = useActions(sandboxId)
  const events = watch?.events

  useEffect(() => {
    const run = details.data?.sandbox.run
    if (events !== undefined && run !== undefined) events.settle(run, details.data?.seq ?? 0)
  }, [events, details.data])

  const failure = details.error ?? watch?.failure
  if (details.data === undefined || watch === undefined || !watch.events.isOpen) {
    if (failure) return <Failure error={failure} onRetry={() => void details.refetch()} />
    return <Skeleton rows={10} label="Loading the sandbox" />
  }
  const { sandbox } = details.data
  return (
    <div className={css.screen}>
      <Header sandbox={sandbox} watch={watch} actions={actions} />
      <div className={css.columns}>
        <div className={css.story}>
          <TimelineList watch={watch} />
          <Reviews sandboxId={sandboxId} />
          <Composer sandbox={sandbox} state={watch.state} actions={actions} />
        </div>
        <Facts sandbox={sandbox} counters={watch.events.counters} />
      </div>
    </div>
  )
}
