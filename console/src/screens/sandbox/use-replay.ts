import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Echoes } from '~/store/echoes'
import type { EventStore } from '~/store/event-store'
import { Replay } from '~/store/replay'

const ROUTE = '/frame/console/sandboxes/$sandboxId'
/** Time without a change after which the address names the moment. */
const STILL_MS = 300

const nothing = () => () => undefined

/** The run at a moment that the address names. Older events are loaded in the background. */
export function useReplay(live: EventStore): { replay: Replay | undefined; hasFailed: boolean; retry: () => void } {
  const { at, replay: isOn = false } = useSearch({ from: ROUTE })
  const [replay, setReplay] = useState<Replay>()
  const [attempt, setAttempt] = useState(0)
  const [hasFailed, setFailed] = useState(false)
  const start = useRef(at)
  start.current = at

  useEffect(() => {
    if (!isOn) {
      setReplay(undefined)
      return
    }
    const made = new Replay(live, start.current ?? 1)
    setReplay(made)
    return live.notifier.subscribe(() => made.sync())
  }, [live, isOn])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt loads anew
  useEffect(() => {
    if (!isOn) return
    const aborter = new AbortController()
    setFailed(false)
    live.loadAll(aborter.signal).catch(() => setFailed(true))
    return () => aborter.abort()
  }, [live, isOn, attempt])

  useSyncExternalStore(replay?.notifier.subscribe ?? nothing, replay?.notifier.version ?? (() => 0))
  useClock(replay)
  useMoment(replay, at)
  return { replay, hasFailed, retry: () => setAttempt(attempt + 1) }
}

function useClock(replay: Replay | undefined): void {
  const isPlaying = replay?.isPlaying ?? false
  useEffect(() => {
    if (replay === undefined || !isPlaying) return
    let frame = 0
    const tick = (now: number) => {
      replay.tick(now)
      frame = requestAnimationFrame(tick)
    }
    frame = requestAnimationFrame(tick)
    return () => cancelAnimationFrame(frame)
  }, [replay, isPlaying])
}

/** Synchronises the address and the replay: the last change applies. */
function useMoment(replay: Replay | undefined, at: number | undefined): void {
  const navigate = useNavigate({ from: '/console/sandboxes/$sandboxId' })
  const [echoes] = useState(() => new Echoes<number>())
  useEffect(() => {
    if (replay === undefined || at === undefined || echoes.hears(at)) return
    if (at !== replay.seq) replay.seek(at)
  }, [replay, at, echoes])

  const seq = replay?.seq
  const isPlaying = replay?.isPlaying ?? false
  useEffect(() => {
    if (seq === undefined || isPlaying || seq === at) return
    const timer = setTimeout(() => {
      echoes.name(seq)
      void navigate({ search: (before) => ({ ...before, at: seq }), replace: true })
    }, STILL_MS)
    return () => clearTimeout(timer)
  }, [seq, at, isPlaying, navigate, echoes])
}
