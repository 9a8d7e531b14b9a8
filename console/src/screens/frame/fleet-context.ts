import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Feed } from '~/store/feed'
import type { FleetWatch } from '~/store/fleet-watch'

export const FeedContext = createContext<Feed | undefined>(undefined)

/** The live feed of this tab. */
export function useFeed(): Feed {
  const feed = useContext(FeedContext)
  if (feed === undefined) throw new Error('useFeed is for what is inside the frame')
  return feed
}

export const FleetContext = createContext<FleetWatch | undefined>(undefined)

/** The fleet of this tab. Renders the caller again after a change. */
export function useFleet(): FleetWatch {
  const watch = useContext(FleetContext)
  if (watch === undefined) throw new Error('useFleet is for what is inside the frame')
  useSyncExternalStore(watch.fleet.notifier.subscribe, watch.fleet.notifier.version)
  return watch
}
