import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { readAgain } from '~/api/read-again'
import { type Alert, acknowledge, readAlerts } from '~/api/supervision'
import { isAlerting } from '~/store/alerts'
import { useFeed } from '../frame/fleet-context'

const EVERY_MS = 30_000
/** The server makes an alert from an event a moment after it sends the event. */
const READ_AFTER_MS = 1_500

const KEY = ['alerts']

const alertsQuery = queryOptions({
  queryKey: KEY,
  queryFn: readAlerts,
  // A server without alerts gets none later.
  refetchInterval: ({ state }) => (state.data === null ? false : EVERY_MS),
})

/** The newest alerts. The data is null if the server has no alerts. */
export function useAlerts() {
  return useQuery(alertsQuery)
}

/** Reads the alerts after events that are likely to make one. */
export function useAlertNews(): void {
  const feed = useFeed()
  const queries = useQueryClient()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = () => {
      if (queries.getQueryData<readonly Alert[] | null>(KEY) === null) return
      timer ??= setTimeout(() => {
        timer = undefined
        void readAgain(queries, KEY)
      }, READ_AFTER_MS)
    }
    const leave = feed.follow({
      onEvent: ({ event_type: type }) => {
        if (isAlerting(type)) soon()
      },
      onOpen: () => undefined,
      onMissed: soon,
    })
    return () => {
      clearTimeout(timer)
      leave()
    }
  }, [feed, queries])
}

export function useAcknowledge() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (alert: Alert) => acknowledge(alert.alert_id),
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  })
}
