import { useMutation } from '@tanstack/react-query'
import { ApiError } from '~/api/problem'
import type { Shells } from '~/store/shells'

export interface OpenShell {
  readonly open: () => void
  readonly isPending: boolean
  readonly error: Error | null
  /** The user may watch shells but not open one. */
  readonly isRefused: boolean
}

/** Starts a shell and shows it. */
export function useOpenShell(shells: Shells, show: (id: string) => void): OpenShell {
  const { mutate, isPending, error } = useMutation({ mutationFn: () => shells.open(), onSuccess: show })
  return { open: () => mutate(), isPending, error, isRefused: error instanceof ApiError && error.status === 403 }
}
