import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { Keys } from '~/keys/KeySheet'
import { type Entry, found } from '~/keys/palette'
import { useShortcutGroups } from '~/keys/shortcuts'
import { plain } from '~/ui/format'
import { useFleet } from './fleet-context'
import css from './Palette.module.css'

/** Shortcuts that only move the focus are not in the palette. */
const MOVES = new Set(['j', 'k', 'Escape', 'Mod+k', 'F6', 'Shift+F6'])

/** Command palette with all actions and pages. It opens synchronously, so that typed text does not reach the page. */
export function Palette({ onClose }: { onClose: () => void }) {
  const entries = useEntries()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const chosen = useRef<Entry>(undefined)
  const listId = useId()
  const list = useMemo(() => found(entries, typed), [entries, typed])
  const current = list[Math.min(at, list.length - 1)]
  useEffect(() => {
    dialog.current?.showModal()
  }, [])
  useEffect(() => {
    void document.getElementById(`${listId}-${current?.id}`)?.scrollIntoView({ block: 'nearest' })
  }, [listId, current])

  const choose = (entry: Entry | undefined) => {
    chosen.current = entry
    dialog.current?.close()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((list.length + Math.min(at, list.length - 1) + step) % Math.max(1, list.length))
    else if (event.key === 'Enter') choose(current)
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      className={css.palette}
      aria-label="Command palette"
      onClose={() => {
        onClose()
        // The dialog has restored the focus, so the action applies to the previously focused element.
        chosen.current?.run()
      }}
      onClick={(event) => event.target === dialog.current && dialog.current.close()}
      onKeyDown={onKeyDown}
    >
      <input
        className={css.box}
        value={typed}
        placeholder="Search pages and commands…"
        role="combobox"
        aria-label="Command"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={current && `${listId}-${current.id}`}
        autoComplete="off"
        onChange={(event) => {
          setTyped(event.target.value)
          setAt(0)
        }}
      />
      <div id={listId} className={css.list} role="listbox" aria-label="Commands">
        {list.map((entry) => (
          // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the box has the keys
          <div
            key={entry.id}
            id={`${listId}-${entry.id}`}
            role="option"
            aria-selected={entry === current}
            className={css.entry}
            onClick={() => choose(entry)}
          >
            <span className={css.name}>{plain(entry.name)}</span>
            <span className={css.hint}>{plain(entry.hint)}</span>
            {entry.keys && <Keys of={entry.keys} />}
          </div>
        ))}
      </div>
      <p role="status" className={list.length === 0 ? css.none : 'visually-hidden'}>
        {list.length === 0 ? 'No results' : `${list.length} found`}
      </p>
    </dialog>
  )
}

/** Shortcuts of the current screen first; then the sandboxes, those with the newest events first. */
function useEntries(): readonly Entry[] {
  const groups = useShortcutGroups()
  const { rows } = useFleet().fleet
  const navigate = useNavigate()
  return useMemo(() => {
    const actions = groups.toReversed().flatMap((group) =>
      group.shortcuts
        .filter((one) => !MOVES.has(one.keys))
        .map((one) => ({
          id: `${group.name}-${one.keys}`.replaceAll(/\W/g, '_'),
          name: one.does,
          hint: group.name,
          keys: one.keys,
          run: one.run,
        })),
    )
    const sandboxes = [...rows]
      .sort((a, b) => b.lastEventAt - a.lastEventAt)
      .map(({ sandbox, title, status }) => ({
        id: sandbox.sandbox_id,
        name: title,
        hint: `${status} · ${sandbox.thread_id}`,
        run: () => void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId: sandbox.sandbox_id } }),
      }))
    return [...actions, ...sandboxes]
  }, [groups, rows, navigate])
}
