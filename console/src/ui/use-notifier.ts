import { useSyncExternalStore } from 'react'
import type { Notifier } from '~/store/notifier'

/** Renders the caller again after each notification. */
export function useNotifier(notifier: Notifier): number {
  return useSyncExternalStore(notifier.subscribe, notifier.version)
}
