import { useEffect, useState } from 'react'
import { ApiError, sentence } from '~/api/problem'
import { isAsleep } from '~/api/sandbox-state'
import { drafts } from '~/store/drafts'
import { Button } from '~/ui/Button'
import { Splitter } from '~/ui/Splitter'
import { Empty, Failure, Skeleton } from '~/ui/States'
import { useNotifier } from '~/ui/use-notifier'
import type { PanelProps } from '../sandbox/tabs'
import css from './FilesPanel.module.css'
import { FileView } from './FileView'
import { GoToFile } from './GoToFile'
import { Tools } from './Tools'
import { Tree } from './Tree'
import { UploadList } from './UploadList'
import { droppedFiles } from './use-drop'
import { useFilesKeys } from './use-keys'
import { useFilesPlace } from './use-place'
import { useWhyNot, useWorkspace } from './use-workspace'

/** Files of a sandbox: a live tree, and the open file. */
export function FilesPanel({ sandbox, watch, actions }: PanelProps) {
  const workspace = useWorkspace(sandbox, watch)
  const { tree, uploads } = workspace
  const { path, open, close, showChanges } = useFilesPlace()
  const [filter, setFilter] = useState('')
  const [active, setActive] = useState(path)
  const [isSearching, setSearching] = useState(false)
  const whyNot = useWhyNot(sandbox, watch)
  useNotifier(tree.notifier)
  useNotifier(drafts.notifier)
  useFilesKeys({ search: () => setSearching(true), compare: () => path !== undefined && showChanges(path) })

  const isPaused = isAsleep(sandbox)
  useEffect(() => {
    if (!isPaused) void tree.expand('')
  }, [tree, isPaused])
  useEffect(() => {
    if (path === undefined || isPaused) return
    setActive(path)
    void tree.reveal(path)
  }, [tree, path, isPaused])

  const upload = (folder: string, items: DataTransfer) => {
    void droppedFiles(items).then((files) => {
      for (const { path: name, file } of files) uploads.add(folder === '' ? name : `${folder}/${name}`, file)
    })
  }
  return (
    <div className={css.files} data-open={path !== undefined || undefined}>
      <section className={css.side} aria-label="Tree of files">
        <Tools
          workspace={workspace}
          active={active}
          filter={filter}
          whyNot={whyNot}
          onFilter={setFilter}
          onSearch={() => setSearching(true)}
          onOpen={open}
          onGone={(gone) => path !== undefined && (path === gone || path.startsWith(`${gone}/`)) && close()}
        />
        {isPaused && <Paused onResume={() => actions.resume.mutate()} isBusy={actions.resume.isPending} />}
        {workspace.hasEnded && <p className={css.note}>The sandbox has ended. These are the files in the log.</p>}
        {tree.isLoaded && tree.problem !== undefined && !isPaused && (
          <p className={css.problem}>{sentence(tree.problem)}</p>
        )}
        {tree.isLoaded ? (
          <Tree
            tree={tree}
            filter={filter}
            chosen={path}
            active={active}
            onActive={setActive}
            onOpen={open}
            onDrop={whyNot === undefined ? upload : undefined}
            hasDraft={(each) => drafts.get(sandbox.sandbox_id, each) !== undefined}
            empty={<NoFiles />}
          />
        ) : (
          !isPaused && <NotThere problem={tree.problem} onRetry={() => void tree.expand('')} />
        )}
        <UploadList uploads={uploads} />
      </section>
      <Splitter name="files" pane="before" label="Width of the tree" />
      {path === undefined ? (
        <div className={css.none}>
          <Empty title="No file is open">
            <p>
              Choose one in the tree, or press <kbd>t</kbd> to find a file by name.
            </p>
          </Empty>
        </div>
      ) : (
        <FileView key={path} file={workspace.file(path)} workspace={workspace} whyNot={whyNot} onClose={close} />
      )}
      {isSearching && <GoToFile workspace={workspace} onOpen={open} onClose={() => setSearching(false)} />}
    </div>
  )
}

function NoFiles() {
  return (
    <Empty title="No files yet">
      <p>Files of the workspace appear here. Drop files here to upload them.</p>
    </Empty>
  )
}

function Paused({ onResume, isBusy }: { onResume: () => void; isBusy: boolean }) {
  return (
    <div className={css.note} role="status">
      <p>The sandbox is paused. Resume it to see its files. The tab Changes shows the files in the log.</p>
      <Button onClick={onResume} disabled={isBusy} title="Resumes every process in it">
        Resume
      </Button>
    </div>
  )
}

function NotThere({ problem, onRetry }: { problem: unknown; onRetry: () => void }) {
  if (problem === undefined) return <Skeleton rows={8} label="Loading the files" />
  if (problem instanceof ApiError && problem.status === 403) {
    return <Empty title="You do not have access to the files">{sentence(problem)}</Empty>
  }
  return <Failure error={problem} onRetry={onRetry} />
}
