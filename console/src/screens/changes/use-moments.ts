import { useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { FileChanges } from '~/store/file-changes'
import { lastVisit, noteVisit } from '~/store/viewed'

/**
 * The two moments that are compared. Now is the moment when the screen was opened: what comes after it is counted, and
 * shown when somebody asks, so that nothing moves under the eyes of who reads.
 */
export function useMoments(sandboxId: string, changes: FileChanges) {
  const { from, to } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const [visit] = useState(() => lastVisit(sandboxId))
  const [pinned, setPinned] = useState<number>()
  const now = pinned ?? changes.lastSeq
  const { isLoaded } = changes
  useEffect(() => {
    if (isLoaded) setPinned((before) => before ?? changes.lastSeq)
  }, [isLoaded, changes])
  useNotedVisit(sandboxId, isLoaded ? now : 0)
  return {
    from: from === 'visit' ? (visit ?? 0) : (from ?? 0),
    to: to ?? now,
    visit,
    newer: to === undefined && pinned !== undefined ? changes.between(now, changes.lastSeq).length : 0,
    showNewer: () => setPinned(changes.lastSeq),
  }
}

function useNotedVisit(sandboxId: string, seq: number): void {
  const seen = useRef(seq)
  seen.current = seq
  useEffect(() => {
    const note = () => noteVisit(sandboxId, seen.current)
    window.addEventListener('pagehide', note)
    return () => {
      window.removeEventListener('pagehide', note)
      note()
    }
  }, [sandboxId])
}
