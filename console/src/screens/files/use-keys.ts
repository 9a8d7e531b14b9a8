import { useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'

/** The keys of the files that mean the same wherever the focus is. */
export function useFilesKeys(search: () => void): void {
  const latest = useRef(search)
  latest.current = search
  useShortcuts(
    'Files',
    useMemo(() => [{ keys: 't', does: 'Go to a file', run: () => latest.current() }], []),
  )
}
