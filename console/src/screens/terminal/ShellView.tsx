import { useEffect, useId, useRef, useState } from 'react'
import type { ShellSession } from '~/store/shell-session'
import type { Shells } from '~/store/shells'
import { inspectPaste, isMouse, type Paste } from '~/store/terminal-input'
import { Banners } from './Banners'
import { PasteDialog } from './PasteDialog'
import { SearchBar } from './SearchBar'
import css from './ShellView.module.css'
import { StatusLine } from './StatusLine'
import { Tools } from './Tools'
import { isOnTab } from './terminal-keys'
import { useScreen } from './use-screen'
import { useSession } from './use-shells'

export interface ShellViewProps {
  readonly shells: Shells
  readonly session: ShellSession
  readonly isShown: boolean
  readonly isPaused: boolean
  readonly onAnother: () => void
  readonly onAway: () => void
  readonly onResume: () => void
}

/** One shell. It stays mounted but hidden while another tab is shown. */
export function ShellView({ shells, session, isShown, isPaused, onAnother, onAway, onResume }: ShellViewProps) {
  useSession(session)
  const host = useRef<HTMLDivElement>(null)
  const hintId = useId()
  const [paste, setPaste] = useState<Paste>()
  const [isSearching, setSearching] = useState(false)
  const [nudges, setNudges] = useState(0)
  const name = shells.nameOf(session.id)

  const { screen, results, link, isBack } = useScreen(host, session, {
    onType: (data) => {
      if (session.type(data) !== undefined && !isMouse(data)) setNudges((count) => count + 1)
    },
    onPaste: (text) => {
      const found = inspectPaste(text)
      if (session.deaf !== undefined) setNudges((count) => count + 1)
      else if (found.needsLook) setPaste(found)
      else screen?.paste(found.text)
    },
    onLeave: () => document.getElementById(`shell-${session.id}`)?.focus(),
    onSearch: () => setSearching(true),
  })
  useEffect(() => screen?.describe({ label: `Terminal: ${name}`, describedBy: hintId }), [screen, name, hintId])
  useEffect(() => {
    if (!isShown || screen === undefined) return
    screen.measure()
    session.open()
    // Arrow keys keep the focus on the tabs.
    if (!isOnTab()) screen.focus()
  }, [isShown, screen, session])

  const back = () => screen?.focus()
  return (
    <section className={css.view} hidden={!isShown} role="tabpanel" id={`panel-${session.id}`} aria-label={name}>
      <Tools shells={shells} session={session} isPaused={isPaused} onSearch={() => setSearching(true)} onDone={back} />
      <Banners
        session={session}
        isPaused={isPaused}
        nudges={nudges}
        onType={() => shells.watchOnly(session.id, false)}
        onResume={onResume}
        onAnother={onAnother}
        onDismiss={() => {
          shells.dismiss(session.id)
          onAway()
        }}
      />
      <div className={css.ground}>
        {isSearching && screen && (
          <SearchBar
            screen={screen}
            place={host}
            results={results}
            onClose={() => {
              setSearching(false)
              back()
            }}
          />
        )}
        <div ref={host} className={css.host} />
        {isBack && (
          <button type="button" className={css.newest} onClick={() => screen?.toEnd()}>
            ↓ Newest
          </button>
        )}
      </div>
      <StatusLine session={session} link={link} hintId={hintId} />
      {paste && (
        <PasteDialog
          paste={paste}
          onClose={() => {
            setPaste(undefined)
            back()
          }}
          onPaste={() => screen?.paste(paste.text)}
        />
      )}
    </section>
  )
}
