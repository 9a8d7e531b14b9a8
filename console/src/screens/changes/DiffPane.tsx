import { Link } from '@tanstack/react-router'
import { ArrowLeft, FileText } from 'lucide-react'
import { useState } from 'react'
import { ApiError, sentence } from '~/api/problem'
import type { Sandbox } from '~/api/types'
import type { Change } from '~/store/file-changes'
import { Button } from '~/ui/Button'
import button from '~/ui/Button.module.css'
import { plain } from '~/ui/format'
import { Empty, Failure, Skeleton } from '~/ui/States'
import type { Actions } from '../sandbox/use-actions'
import { CommentBox } from './CommentBox'
import css from './DiffPane.module.css'
import { DiffView } from './DiffView'
import type { HunkCursor } from './use-change-keys'
import { type Moments, useDiff } from './use-diff'

interface Props {
  readonly change: Change
  readonly moments: Moments
  readonly isSplit: boolean
  readonly isOutdated: boolean
  readonly hunk: HunkCursor
  readonly sandbox: Sandbox
  readonly actions: Actions
  readonly isCommenting: boolean
  readonly onCommented: () => void
  readonly onBack: () => void
}

/** Diff of one file, with a comment box for each line. */
export function DiffPane(props: Props) {
  const { change, moments, isSplit, isOutdated, hunk, sandbox, actions, isCommenting, onCommented, onBack } = props
  const { data, error, refetch } = useDiff(moments, change.path)
  const [line, setLine] = useState<number>()
  const canSpeak = sandbox.run !== undefined && (sandbox.status === 'running' || sandbox.status === 'paused')
  const firstLine = firstChanged(data?.[hunk.index]?.lines ?? data?.[0]?.lines)
  const commented = line ?? (isCommenting ? (firstLine ?? 1) : undefined)
  return (
    <section className={css.pane} aria-label={`Changes of ${change.path}`}>
      <header className={css.header}>
        <span className={css.back}>
          <Button look="quiet" compact icon={ArrowLeft} onClick={onBack}>
            Back to the list
          </Button>
        </span>
        <h2 className={css.path} title={change.path}>
          {plain(change.path)}
        </h2>
        {isOutdated && <span className={css.outdated}>changed since then</span>}
        {change.how !== 'deleted' && (
          <Link
            from="/console/sandboxes/$sandboxId"
            search={{ tab: 'files', path: change.path }}
            className={`${button.button} ${button.plain ?? ''} ${css.open}`}
          >
            <FileText size={16} aria-hidden />
            Open
          </Link>
        )}
      </header>
      {data ? (
        data.length === 0 ? (
          <Empty title="The text is the same" />
        ) : (
          <DiffView
            hunks={data}
            isSplit={isSplit}
            hunk={hunk}
            commented={commented}
            onLine={canSpeak ? setLine : undefined}
          />
        )
      ) : error ? (
        <Unknown error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton rows={10} label="Loading the difference" />
      )}
      {canSpeak && commented !== undefined && (
        <CommentBox
          sandboxId={sandbox.sandbox_id}
          path={change.path}
          line={commented}
          onLine={setLine}
          actions={actions}
          onClose={() => {
            setLine(undefined)
            onCommented()
          }}
        />
      )}
    </section>
  )
}

function Unknown({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof ApiError && error.slug === 'version-not-kept') {
    return (
      <Empty title="The log does not have this text">
        <p>{sentence(error)}.</p>
      </Empty>
    )
  }
  return <Failure error={error} onRetry={onRetry} />
}

function firstChanged(lines: readonly { kind: string; after: number | undefined }[] | undefined): number | undefined {
  return lines?.find((line) => line.kind === 'plus')?.after ?? lines?.find((line) => line.after !== undefined)?.after
}
