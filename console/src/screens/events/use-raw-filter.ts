import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import type { LogEvent } from '~/api/types'
import { RawFilter } from '~/store/raw-filter'

/** Filter of the log, read from the address, and its setters. */
export function useRawFilter(events: readonly LogEvent[]) {
  const { types = '', errors = false, q = '' } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const chosen = useMemo(() => (types === '' ? [] : types.split(',')), [types])
  const filter = useMemo(() => new RawFilter({ types: chosen, onlyFailed: errors, word: q }), [chosen, errors, q])
  const choose = useCallback(
    (part: { types?: string; errors?: true; q?: string }) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  )
  return { filter: filter.update(events), chosen, onlyFailed: errors, word: q, choose }
}

export type RawFilterChoice = ReturnType<typeof useRawFilter>
