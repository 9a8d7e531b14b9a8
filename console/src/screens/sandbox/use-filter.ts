import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { RowFilter } from '~/store/row-filter'
import { KINDS, type Kind } from '~/store/row-kinds'
import type { Row } from '~/store/rows'
import type { Hides } from '../files/use-ignored'

/** Search parameters of the filter. */
export interface Choice {
  readonly show?: string
  readonly errors?: true
  readonly q?: string
  readonly ignored?: true
}

/** Filter of the rows, read from the address, and its setters. */
export function useRowFilter(rows: readonly Row[], hides: Hides) {
  const { show = '', errors = false, q = '' } = useSearch({ from: '/frame/console/sandboxes/$sandboxId' })
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const kinds = useMemo<readonly Kind[]>(() => {
    const named = show.split(',')
    return KINDS.filter((kind) => named.includes(kind))
  }, [show])
  const filter = useMemo(() => new RowFilter({ kinds, onlyErrors: errors, word: q, hides }), [kinds, errors, q, hides])
  const choose = useCallback(
    (part: Choice) => void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  )
  return { filter: filter.update(rows), kinds, onlyErrors: errors, word: q, hides, choose }
}

export type FilterChoice = ReturnType<typeof useRowFilter>
