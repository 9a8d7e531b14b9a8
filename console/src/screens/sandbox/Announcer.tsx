import { useEffect, useRef, useState } from 'react'
import { digest } from '~/store/digest'
import type { EventStore } from '~/store/event-store'

const EVERY_MS = 5_000

/** Announces new events to screen readers at intervals, because one announcement for each event is too much. */
export function Announcer({ events }: { events: EventStore }) {
  const [words, setWords] = useState('')
  const told = useRef(events.lastSeq)
  useEffect(() => {
    const timer = setInterval(() => {
      const news = digest(events.timeline.rows, told.current)
      told.current = events.lastSeq
      if (news !== '') setWords(news)
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [events])
  return (
    <p role="status" className="visually-hidden">
      {words}
    </p>
  )
}
