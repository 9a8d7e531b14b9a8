import { type RefObject, useEffect, useRef, useState } from 'react'
import type { ShellSession } from '~/store/shell-session'
import { useTerminalSettings } from '~/store/terminal-settings'
import { coloursAt, useColourScheme } from './colours'
import { ShellScreen } from './shell-screen'

interface Hands {
  readonly onType: (data: string) => void
  readonly onPaste: (text: string) => void
  readonly onLeave: () => void
  readonly onSearch: () => void
}

export interface Results {
  readonly index: number
  readonly count: number
}

const NONE: Results = { index: -1, count: 0 }

/** Terminal in the element while the caller is mounted. It shows the session and uses its size. */
export function useScreen(host: RefObject<HTMLElement | null>, session: ShellSession, hands: Hands) {
  const latest = useRef(hands)
  latest.current = hands
  const settings = useTerminalSettings()
  const first = useRef(settings)
  const scheme = useColourScheme()
  const [screen, setScreen] = useState<ShellScreen>()
  const [results, setResults] = useState(NONE)
  const [link, setLink] = useState<string>()
  const [isBack, setBack] = useState(false)

  useEffect(() => {
    const place = host.current
    if (place === null) return
    const look = { colours: coloursAt(place), settings: first.current }
    const made = new ShellScreen(place, look, {
      onType: (data) => latest.current.onType(data),
      onReply: (data) => session.reply(data),
      onPaste: (text) => latest.current.onPaste(text),
      onLeave: () => latest.current.onLeave(),
      onSearch: () => latest.current.onSearch(),
      onRoom: (room) => session.resize(room),
      onResults: (index, count) => setResults({ index, count }),
      onLink: setLink,
      onScroll: setBack,
    })
    session.attach(made)
    setScreen(made)
    return () => {
      session.attach(undefined)
      made.dispose()
    }
  }, [host, session])

  const { size } = session
  useEffect(() => {
    if (size !== undefined) screen?.setSize(size)
  }, [screen, size])
  useEffect(() => screen?.setSettings(settings), [screen, settings])
  useEffect(() => {
    // The value is not used: it signals that the colours of the style sheet have changed.
    if (scheme !== '' && host.current !== null) screen?.setColours(coloursAt(host.current))
  }, [screen, scheme, host])

  return { screen, results, link, isBack }
}
