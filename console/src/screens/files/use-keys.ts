import { useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'

interface Wanted {
  readonly search: () => void
  readonly compare: () => void
}

/** Shortcuts of the files that do not depend on the focus. */
export function useFilesKeys(wanted: Wanted): void {
  const latest = useRef(wanted)
  latest.current = wanted
  useShortcuts(
    'Files',
    useMemo(
      () => [
        { keys: 't', does: 'Go to a file', run: () => latest.current.search() },
        { keys: 'd', does: 'Changes of the open file', run: () => latest.current.compare() },
      ],
      [],
    ),
  )
}

/** Shortcuts for the row of the tree that has or last had the focus. */
export function useRowKeys(wanted: { readonly rename: () => void; readonly remove: () => void }): void {
  const latest = useRef(wanted)
  latest.current = wanted
  useShortcuts(
    'Files',
    useMemo(
      () => [
        { keys: 'F2', does: 'Rename or move', run: () => latest.current.rename() },
        { keys: 'Delete', does: 'Delete, with a confirmation', run: () => latest.current.remove() },
      ],
      [],
    ),
  )
}
