import { useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { FileChanges } from '~/store/file-changes'
import { lastVisit, noteVisit } from '~/store/viewed'
import { useNotifier } from '~/ui/use-notifier'

/**
 * The two compared moments. Now is the time when the screen was opened: newer changes are counted and shown on request,
 * so that nothing moves while the user reads.
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
  const version = useNotifier(changes.notifier)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it changes when the log told of files
  const newer = useMemo(() => changes.between(now, changes.lastSeq).length, [changes, version, now])
  return {
    from: from === 'visit' ? (visit ?? 0) : (from ?? 0),
    to: to ?? now,
    visit,
    newer: to === undefined && pinned !== undefined ? newer : 0,
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
