import { useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'

/** Shortcuts of an open file. */
export function useFileKeys(actions: { edit: () => void; save: () => void }): void {
  const latest = useRef(actions)
  latest.current = actions
  useShortcuts(
    'Files',
    useMemo(
      () => [
        { keys: 'e', does: 'Edit the open file', run: () => latest.current.edit() },
        { keys: 'Mod+s', does: 'Save it', run: () => latest.current.save() },
      ],
      [],
    ),
  )
}
