import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'

/** The open file, from the address. */
export function useFilesPlace() {
  const path = useSearch({ from: '/frame/console/sandboxes/$sandboxId', select: (search) => search.path })
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const open = useCallback((wanted: string) => void navigate({ search: { tab: 'files', path: wanted } }), [navigate])
  const close = useCallback(() => void navigate({ search: { tab: 'files' } }), [navigate])
  const showChanges = useCallback((of: string) => void navigate({ search: { tab: 'changes', path: of } }), [navigate])
  return { path, open, close, showChanges }
}
