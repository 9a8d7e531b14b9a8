import { useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, useId, useMemo, useState } from 'react'
import { sentence } from '~/api/problem'
import { bestMatches } from '~/store/near-paths'
import type { Workspace } from '~/store/workspace'
import { Dialog } from '~/ui/Dialog'
import { focusFirst } from '~/ui/focus-first'
import { plain } from '~/ui/format'
import css from './FilesPanel.module.css'

const SHOWN = 50

interface Props {
  readonly workspace: Workspace
  readonly onOpen: (path: string) => void
  readonly onClose: () => void
}

/** Fuzzy search of files by path. */
export function GoToFile({ workspace, onOpen, onClose }: Props) {
  const [letters, setLetters] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const { data, error, isPending } = useQuery({
    queryKey: ['sandbox', workspace.remote.sandboxId, 'all-files'],
    queryFn: async () =>
      (await workspace.listAll()).filter((entry) => entry.type !== 'directory').map((entry) => entry.path),
    gcTime: 0,
    retry: false,
  })
  const found = useMemo(() => bestMatches(data ?? [], letters, SHOWN), [data, letters])
  const choose = (path: string | undefined) => {
    if (path === undefined) return
    onOpen(path)
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setAt(Math.max(0, Math.min(found.length - 1, at + step)))
    else if (event.key === 'Enter') choose(found[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Go to a file" onClose={onClose}>
      <input
        className={css.field}
        role="combobox"
        aria-label="Part of the path"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found.length > 0 ? `${listId}-${at}` : undefined}
        ref={focusFirst}
        spellCheck={false}
        value={letters}
        onChange={(event) => {
          setLetters(event.target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      {error && <p className={css.problem}>{sentence(error)}</p>}
      {isPending && !error && <p className={css.aside}>Loading the names…</p>}
      {data && found.length === 0 && <p className={css.aside}>No matches.</p>}
      <div id={listId} role="listbox" aria-label="Files" className={css.found}>
        {found.map((path, index) => (
          <div
            key={path}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            className={css.hit}
            ref={(row) => {
              if (index === at) row?.scrollIntoView({ block: 'nearest' })
            }}
            onClick={() => choose(path)}
            onKeyDown={onKeyDown}
          >
            {plain(path)}
          </div>
        ))}
      </div>
    </Dialog>
  )
}
