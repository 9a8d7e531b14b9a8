import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { number, text } from '~/api/data'
import type { LogEvent } from '~/api/types'
import type { ShellSession } from '~/store/shell-session'
import { registryOf, Shells } from '~/store/shells'
import type { Watch } from '~/store/watch'

const nothing = () => () => undefined

/** Shells of a sandbox while the caller is mounted. The log reports new shells. */
export function useShells(sandboxId: string, isPaused: boolean, watch: Watch): Shells | undefined {
  const [shells, setShells] = useState<Shells>()
  const isPausedNow = useRef(isPaused)
  isPausedNow.current = isPaused
  useEffect(() => {
    const made = new Shells(registryOf(sandboxId))
    // Before the first render: a connection resumes a paused sandbox.
    made.setPaused(isPausedNow.current)
    void made.refresh()
    setShells(made)
    return () => made.close()
  }, [sandboxId])

  useEffect(() => shells?.setPaused(isPaused), [shells, isPaused])
  useNews(shells, watch)
  useSyncExternalStore(shells?.notifier.subscribe ?? nothing, shells?.notifier.version ?? (() => 0))
  return shells
}

/** Renders the caller again after a change of the shell. */
export function useSession(session: ShellSession): ShellSession {
  useSyncExternalStore(session.notifier.subscribe, session.notifier.version)
  return session
}

function useNews(shells: Shells | undefined, watch: Watch): void {
  const last = watch.events.lastSeq
  const seen = useRef(last)
  useEffect(() => {
    const from = seen.current
    seen.current = last
    if (shells === undefined) return
    const { events } = watch.events
    for (let at = events.length - 1; at >= 0; at--) {
      const event = events[at]
      if (event === undefined || event.seq <= from) return
      heed(shells, event)
    }
  }, [shells, watch, last])
}

function heed(shells: Shells, { event_type: type, event_data: data }: LogEvent): void {
  const id = text(data, 'session_id')
  if (id === undefined) return
  if (type === 'command.completed') shells.ended(id, number(data, 'exit_code'))
  else if (type === 'command.started' && shells.find(id) === undefined) void shells.refresh()
}
