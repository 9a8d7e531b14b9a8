import { Link } from '@tanstack/react-router'
import { ArrowLeft, Download, FileDiff, PencilLine, Save, Undo2 } from 'lucide-react'
import { type ReactNode, Suspense, useEffect, useState } from 'react'
import { bytesAt } from '~/api/files'
import { ApiError, sentence } from '~/api/problem'
import { nameOf } from '~/store/file-tree'
import type { OpenFile } from '~/store/open-file'
import type { Workspace } from '~/store/workspace'
import { Button } from '~/ui/Button'
import button from '~/ui/Button.module.css'
import { bytes, moment, plain } from '~/ui/format'
import { lazily } from '~/ui/lazily'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useNotifier } from '~/ui/use-notifier'
import { ChangedBar } from './ChangedBar'
import css from './FileView.module.css'
import { Picture } from './Picture'
import { useFileKeys } from './use-file-keys'

const CodeEditor = lazily(() => import('./CodeEditor'), 'CodeEditor')
const Compare = lazily(() => import('./Compare'), 'Compare')

interface Props {
  readonly file: OpenFile
  readonly workspace: Workspace
  readonly whyNot: string | undefined
  readonly onClose: () => void
}

/** One file: view, edit, and compare with a version of another writer. */
export function FileView({ file, workspace, whyNot, onClose }: Props) {
  useNotifier(file.notifier)
  const [isEditing, setEditing] = useState(file.draft !== undefined)
  const [isComparing, setComparing] = useState(false)
  const hasOther = file.newer !== undefined || file.isGone
  useEffect(() => {
    if (!hasOther) setComparing(false)
  }, [hasOther])
  const isFixed = whyNot !== undefined || !file.isEditable
  useFileKeys({
    edit: () => !isFixed && setEditing(true),
    save: () => void file.save(),
  })
  const leave = () => {
    file.discard()
    setEditing(false)
  }
  return (
    <section className={css.view} aria-label={`File ${file.path}`}>
      <header className={css.header}>
        <span className={css.back}>
          <Button look="quiet" compact icon={ArrowLeft} onClick={onClose}>
            Back to the tree
          </Button>
        </span>
        <h2 className={css.path} title={file.path}>
          {plain(file.path)}
        </h2>
        <Standing file={file} />
        <div className={css.actions}>
          {isEditing ? (
            <>
              <Button
                look="primary"
                icon={Save}
                disabled={isFixed || file.isSaving || file.draft === undefined}
                title={whyNot ?? 'Ctrl S'}
                onClick={() => void file.save()}
              >
                Save
              </Button>
              <Button icon={Undo2} disabled={file.isSaving} onClick={leave}>
                {file.draft === undefined ? 'Stop editing' : 'Discard'}
              </Button>
            </>
          ) : (
            file.shown?.kind === 'text' && (
              <Button
                icon={PencilLine}
                disabled={isFixed}
                title={whyNot ?? (file.isEditable ? 'e' : 'The file is too large to edit here')}
                onClick={() => setEditing(true)}
              >
                Edit
              </Button>
            )
          )}
          <Link
            from="/console/sandboxes/$sandboxId"
            search={{ tab: 'changes', path: file.path }}
            className={`${button.button} ${button.plain ?? ''}`}
            title="Changes of the file"
          >
            <FileDiff size={16} aria-hidden />
            Changes
          </Link>
          <DownloadLink workspace={workspace} path={file.path} />
        </div>
      </header>
      <ChangedBar
        file={file}
        isComparing={isComparing}
        onCompare={() => setComparing(!isComparing)}
        onReload={() => {
          setEditing(false)
          void file.reload()
        }}
      />
      {file.saveProblem !== undefined && (
        <p role="alert" className={css.refused}>
          Not saved: {sentence(file.saveProblem)} What you typed is still here.
        </p>
      )}
      <div className={css.body}>
        <Suspense fallback={<Skeleton rows={12} label="Loading the viewer" />}>
          {isComparing && file.newer ? (
            <Compare
              path={file.path}
              theirs={file.newerText}
              mine={file.text}
              onEdit={(text) => !isFixed && file.edit(text)}
            />
          ) : (
            <Content file={file} workspace={workspace} isReadOnly={!isEditing || isFixed} />
          )}
        </Suspense>
      </div>
    </section>
  )
}

function Standing({ file }: { file: OpenFile }) {
  if (file.content === undefined) return null
  const words = file.isSaving ? 'saving…' : file.draft !== undefined ? 'not saved' : ''
  return (
    <span className={css.standing}>
      {bytes(file.content.size)}
      {file.content.modifiedAt && <span className={css.when}>{moment(file.content.modifiedAt)}</span>}
      {words && <strong>{words}</strong>}
    </span>
  )
}

function DownloadLink({ workspace, path }: { workspace: Workspace; path: string }): ReactNode {
  const look = `${button.button} ${button.plain ?? ''}`
  if (workspace.hasEnded || !workspace.remote.isAwake) {
    return (
      <Button icon={Download} disabled title="Available while the sandbox runs">
        Download
      </Button>
    )
  }
  return (
    <a className={look} href={bytesAt(workspace.remote.sandboxId, path)} download={nameOf(path)}>
      <Download size={16} aria-hidden />
      Download
    </a>
  )
}

function Content({ file, workspace, isReadOnly }: { file: OpenFile; workspace: Workspace; isReadOnly: boolean }) {
  const { shown, content } = file
  if (shown === undefined || content === undefined) {
    if (file.problem === undefined) return <Skeleton rows={12} label="Loading the file" />
    return <Unreadable problem={file.problem} onRetry={() => void file.load()} />
  }
  if (shown.kind === 'image') return <Picture file={file} mediaType={shown.mediaType} workspace={workspace} />
  if (shown.kind === 'binary') {
    return (
      <>
        <p className={css.notice}>The file is not text. These are its first bytes.</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys */}
        <pre className={css.hex} tabIndex={0}>
          {shown.lines.join('\n')}
        </pre>
      </>
    )
  }
  return (
    <>
      {!shown.isWhole && (
        <p className={css.notice}>
          The file has {bytes(content.size)}, and this is its beginning. Download it to see the rest.
        </p>
      )}
      <CodeEditor
        path={file.path}
        text={file.text}
        version={`${content.tag} ${file.draft === undefined}`}
        isReadOnly={isReadOnly}
        onEdit={(text) => file.edit(text)}
        onSave={() => void file.save()}
      />
    </>
  )
}

function Unreadable({ problem, onRetry }: { problem: unknown; onRetry: () => void }) {
  const status = problem instanceof ApiError ? problem.status : 0
  if (status === 404) return <Empty title="The file does not exist">{sentence(problem)}</Empty>
  if (status === 403) return <Empty title="You do not have access to this file">{sentence(problem)}</Empty>
  if (status === 409) return <Empty title="The sandbox is paused">{sentence(problem)}</Empty>
  if (status === 400) return <Empty title="The file cannot be displayed">{sentence(problem)}</Empty>
  return <Failure error={problem} onRetry={onRetry} />
}
