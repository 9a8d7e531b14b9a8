import { useSyncExternalStore } from 'react'
import type { Notifier } from '~/store/notifier'

/** Draws the caller again whenever this tells of a change. */
export function useNotifier(notifier: Notifier): number {
  return useSyncExternalStore(notifier.subscribe, notifier.version)
}
