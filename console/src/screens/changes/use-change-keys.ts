import { useMemo, useRef, useState } from 'react'
import { useShortcuts } from '~/keys/shortcuts'
import type { Change } from '~/store/file-changes'

/** Position in a diff. */
export interface HunkCursor {
  readonly index: number
  /** Counts moves, so that a move to the same position is noticed. */
  readonly moves: number
  /** Reports the number of positions of the shown diff. */
  readonly tell: (count: number) => void
}

interface Wanted {
  readonly list: readonly Change[]
  readonly chosen: Change | undefined
  readonly choose: (change: Change) => void
  readonly tick: () => void
  readonly comment: () => void
}

/** Shortcuts of the changes: next and previous position, across files. */
export function useChangeKeys(wanted: Wanted): HunkCursor {
  const latest = useRef(wanted)
  latest.current = wanted
  const count = useRef(0)
  const [{ path, index, moves }, setPlace] = useState({ path: '', index: 0, moves: 0 })
  const chosen = wanted.chosen?.path ?? ''
  const at = useRef(0)
  at.current = path === chosen ? index : 0

  const keys = useMemo(() => {
    const toFile = (step: number): boolean => {
      const { list, chosen: now, choose } = latest.current
      const next = now && list[list.indexOf(now) + step]
      if (next !== undefined) choose(next)
      return next !== undefined
    }
    const toHunk = (step: number) => {
      const wantedIndex = at.current + step
      if ((wantedIndex < 0 || wantedIndex >= count.current) && toFile(step)) return
      const next = Math.max(0, Math.min(count.current - 1, wantedIndex))
      setPlace((before) => ({ path: latest.current.chosen?.path ?? '', index: next, moves: before.moves + 1 }))
    }
    return [
      { keys: ']', does: 'Next change', run: () => toHunk(1) },
      { keys: '[', does: 'Previous change', run: () => toHunk(-1) },
      { keys: 'Alt+ArrowDown', does: 'Next file', run: () => void toFile(1) },
      { keys: 'Alt+ArrowUp', does: 'Previous file', run: () => void toFile(-1) },
      { keys: 'v', does: 'Mark as viewed, or not viewed', run: () => latest.current.tick() },
      { keys: 'c', does: 'Comment on the change', run: () => latest.current.comment() },
    ]
  }, [])
  useShortcuts('Changes', keys)
  const shown = path === chosen ? index : 0
  return useMemo(
    () => ({
      index: shown,
      moves,
      tell: (places: number) => {
        count.current = places
      },
    }),
    [shown, moves],
  )
}
