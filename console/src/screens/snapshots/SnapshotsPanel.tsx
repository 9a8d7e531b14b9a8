import { Camera } from 'lucide-react'
import { useMemo, useState } from 'react'
import { ApiError, sentence } from '~/api/problem'
import { isAlive } from '~/api/sandbox-state'
import { useShortcuts } from '~/keys/shortcuts'
import { type Snapshot, type Snapshots, treeOf } from '~/store/snapshot-tree'
import { Button } from '~/ui/Button'
import form from '~/ui/form.module.css'
import { bytes } from '~/ui/format'
import { Section } from '~/ui/Section'
import { Empty, Failure, Skeleton } from '~/ui/States'
import type { PanelProps } from '../sandbox/tabs'
import { Branches } from './Branches'
import { DeleteDialog, ForkDialog, RestoreDialog, TakeDialog } from './dialogs'
import { Origin } from './Origin'
import css from './Snapshots.module.css'
import { type SnapshotActions, useSnapshotActions, useSnapshots } from './use-snapshots'

/** Pending action of the user on a snapshot. */
export type Intent = { readonly kind: 'take' } | { readonly kind: 'restore' | 'fork' | 'delete'; readonly of: Snapshot }

/** Snapshots of the files: a tree from which a user restores or forks. */
export function SnapshotsPanel({ sandbox }: PanelProps) {
  const { data, error, refetch } = useSnapshots(sandbox)
  const actions = useSnapshotActions(sandbox, sandbox.sandbox_id)
  const [intent, setIntent] = useState<Intent>()
  const [done, setDone] = useState('')
  const isLiving = isAlive(sandbox)
  const mayTake = isLiving && data !== undefined && data.snapshots.length < data.limit
  useTakeKey(mayTake, () => setIntent({ kind: 'take' }))

  const close = () => setIntent(undefined)
  const take = isLiving && data && (
    <Button
      look="primary"
      icon={Camera}
      title={mayTake ? 't' : `A thread has at most ${data.limit}`}
      disabled={!mayTake || actions.take.isPending}
      onClick={() => setIntent({ kind: 'take' })}
    >
      Take a snapshot
    </Button>
  )
  if (error instanceof ApiError && error.status === 403) {
    return <Empty title="You do not have access to snapshots">The owner can give you the scope snapshot.</Empty>
  }
  return (
    <div className={css.panel}>
      <Section title="Snapshots" about={summary(data)} actions={take}>
        {error && <Failure error={error} onRetry={() => void refetch()} />}
        {data === undefined && !error && <Skeleton rows={4} label="Loading the snapshots" />}
        <News actions={actions} done={done} />
        {data?.forked_from && <Origin from={data.forked_from} />}
        {data?.snapshots.length === 0 && (
          <Empty title="No snapshot yet">
            <p>A snapshot saves the current files. You can restore it, or fork other threads from it.</p>
          </Empty>
        )}
        {data && (
          <Branches
            branches={treeOf(data)}
            isAlive={isLiving}
            isBusy={actions.restore.isPending}
            onIntent={setIntent}
          />
        )}
      </Section>
      {intent?.kind === 'take' && <TakeDialog actions={actions} onDone={setDone} onClose={close} />}
      {intent?.kind === 'restore' && (
        <RestoreDialog snapshot={intent.of} actions={actions} onDone={setDone} onClose={close} />
      )}
      {intent?.kind === 'delete' && (
        <DeleteDialog snapshot={intent.of} actions={actions} onDone={setDone} onClose={close} />
      )}
      {intent?.kind === 'fork' && data && (
        <ForkDialog snapshot={intent.of} taken={data.forks} actions={actions} onClose={close} />
      )}
    </div>
  )
}

function summary(data: Snapshots | undefined): string {
  const what = 'A snapshot has files, but no memory, no processes and no /tmp.'
  if (data === undefined || data.snapshots.length === 0) return what
  return `${what} ${data.snapshots.length} of at most ${data.limit}, ${bytes(data.total_bytes)} together.`
}

/** Action in progress, last result, or failure. */
function News({ actions, done }: { actions: SnapshotActions; done: string }) {
  const problem = actions.restore.error ?? actions.remove.error
  const words = actions.restore.isPending ? 'Restoring…' : problem ? '' : done
  return (
    <>
      {problem && (
        <p role="alert" className={form.problem}>
          {sentence(problem)}
        </p>
      )}
      <p role="status" className={words ? form.done : 'visually-hidden'}>
        {words}
      </p>
    </>
  )
}

function useTakeKey(mayTake: boolean, open: () => void): void {
  useShortcuts(
    'Snapshots',
    // biome-ignore lint/correctness/useExhaustiveDependencies: opening is the same whatever was drawn since
    useMemo(() => (mayTake ? [{ keys: 't', does: 'Take a snapshot', run: open }] : []), [mayTake]),
  )
}
