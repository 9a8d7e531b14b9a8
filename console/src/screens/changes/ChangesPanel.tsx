import { useNavigate, useSearch } from '@tanstack/react-router'
import { Columns2, Eye, EyeOff, Rows3 } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { Change } from '~/store/file-changes'
import { type Flood, isFloodHidden } from '~/store/floods'
import { Viewed } from '~/store/viewed'
import { Button } from '~/ui/Button'
import { count } from '~/ui/format'
import { Splitter } from '~/ui/Splitter'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useNotifier } from '~/ui/use-notifier'
import { useIgnored } from '../files/use-ignored'
import { useWorkspace } from '../files/use-workspace'
import type { PanelProps } from '../sandbox/tabs'
import { ChangeList } from './ChangeList'
import css from './ChangesPanel.module.css'
import { DiffPane } from './DiffPane'
import { MomentPicker } from './MomentPicker'
import { useChangeKeys } from './use-change-keys'
import { useMoments } from './use-moments'
import { useNarrow } from './use-narrow'

/** Changes of the files between two moments. The list does not change until the user asks for newer events. */
export function ChangesPanel({ sandbox, watch, actions }: PanelProps) {
  const { changes } = useWorkspace(sandbox, watch)
  useNotifier(changes.notifier)
  useEffect(() => void changes.load(), [changes])
  const viewed = useMemo(() => new Viewed(sandbox.sandbox_id), [sandbox.sandbox_id])
  useNotifier(viewed.notifier)
  const { path, view } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const { from, to, visit, newer, showNewer } = useMoments(sandbox.sandbox_id, changes)
  const goTo = useGoTo()
  const isNarrow = useNarrow()

  const all = useMemo(() => (changes.isLoaded ? changes.between(from, to) : []), [changes, changes.isLoaded, from, to])
  const hides = useIgnored(sandbox, watch)
  // Scrolls to the file that a link names.
  const list = useMemo(
    () => (hides ? all.filter((change) => change.path === path || !hides(change.path)) : all),
    [all, hides, path],
  )
  const hidden = all.length - list.length
  const chosen = list.find((change) => change.path === path) ?? (isNarrow ? undefined : list[0])
  const [isCommenting, setCommenting] = useState(false)
  const hunk = useChangeKeys({
    list,
    chosen,
    choose: (change) => goTo({ path: change.path }),
    tick: () => chosen && viewed.set(chosen.path, chosen.seq, !viewed.has(chosen.path, chosen.seq)),
    comment: () => setCommenting(true),
  })

  if (!changes.isLoaded) {
    if (changes.problem === undefined) return <Skeleton rows={8} label="Loading the changes" />
    return <Failure error={changes.problem} onRetry={() => void changes.load()} />
  }
  const isSplit = view === 'split' && !isNarrow
  return (
    <div className={css.changes} data-open={path !== undefined || undefined}>
      <div className={css.bar}>
        <MomentPicker which="from" events={watch.events.events} visit={visit} />
        <MomentPicker which="to" events={watch.events.events} visit={undefined} />
        {newer > 0 && (
          <Button onClick={showNewer}>{newer === 1 ? '1 newer change' : `${count(newer)} newer changes`}: show</Button>
        )}
        {!isNarrow && (
          <Button
            look="quiet"
            icon={isSplit ? Rows3 : Columns2}
            onClick={() => goTo({ view: isSplit ? undefined : 'split' })}
          >
            {isSplit ? 'Unified' : 'Side by side'}
          </Button>
        )}
        {(hidden > 0 || hides === undefined) && (
          <Button
            look="quiet"
            icon={hides ? Eye : EyeOff}
            title="Files of version control and caches, and files that .gitignore names"
            onClick={() => goTo({ ignored: hides ? true : undefined })}
          >
            {hides
              ? `Show ${hidden === 1 ? '1 ignored file' : `${count(hidden)} ignored files`}`
              : 'Hide ignored files'}
          </Button>
        )}
      </div>
      <Floods
        counted={changes.floods(from, to).filter((flood) => hides === undefined || !isFloodHidden(flood, hides))}
        isComplete={changes.isComplete}
      />
      {list.length === 0 ? (
        <Empty title="No file changed">
          <p>{hidden > 0 ? 'Only ignored files differ' : 'No file differs'} between these two moments.</p>
        </Empty>
      ) : (
        <div className={css.columns}>
          <ChangeList
            list={list}
            chosen={chosen}
            moments={{ sandboxId: sandbox.sandbox_id, from, to }}
            viewed={viewed}
            isOutdated={(change: Change) => changes.isOutdated(change.path, to)}
            onChoose={(change) => goTo({ path: change.path })}
          />
          <Splitter name="changes" pane="before" label="Width of the list of files" />
          {chosen && (
            <DiffPane
              key={`${chosen.path} ${from} ${to}`}
              change={chosen}
              moments={{ sandboxId: sandbox.sandbox_id, from, to }}
              isSplit={isSplit}
              isOutdated={changes.isOutdated(chosen.path, to)}
              hunk={hunk}
              sandbox={sandbox}
              actions={actions}
              isCommenting={isCommenting}
              onCommented={() => setCommenting(false)}
              onBack={() => goTo({ path: undefined })}
            />
          )}
        </div>
      )}
    </div>
  )
}

function Floods({ counted, isComplete }: { counted: readonly Flood[]; isComplete: boolean }) {
  if (counted.length === 0 && isComplete) return null
  const sum = counted.reduce((total, flood) => total + flood.count, 0)
  const where = [...new Set(counted.flatMap((flood) => flood.directories))].slice(0, 5).join(', ')
  return (
    <p className={css.flood}>
      {sum > 0 &&
        `${count(sum)} more changes occurred at once and were only counted${where ? `, most in ${where}` : ''}. `}
      {!isComplete && 'The log has more changes than this page loads. The oldest changes are missing.'}
    </p>
  )
}

/** Changes the selection, and keeps the rest of the address. */
export function useGoTo() {
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  return (chosen: { path?: string; view?: 'split'; from?: number | 'visit'; to?: number; ignored?: true }) =>
    void navigate({ search: (before) => ({ ...before, tab: 'changes', ...chosen }), replace: !('path' in chosen) })
}
