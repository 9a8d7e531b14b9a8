import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { KeySheet } from '~/keys/KeySheet'
import { movePane } from '~/keys/panes'
import { useKeyboard, useShortcuts } from '~/keys/shortcuts'
import { Feed } from '~/store/feed'
import { FleetWatch } from '~/store/fleet-watch'
import { nextTheme } from '~/theme/theme'
import { Boundary } from '~/ui/Boundary'
import { Skeleton } from '~/ui/States'
import css from './Frame.module.css'
import { FeedContext, FleetContext } from './fleet-context'
import { Palette } from './Palette'
import { Rail } from './Rail'
import { TopBar } from './TopBar'

/** Frame of every screen: navigation, top bar, shortcuts, and the shared connection. */
export function Frame() {
  const live = useLive()
  const [areKeysShown, showKeys] = useState(false)
  const [isPaletteShown, showPalette] = useState(false)
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const navigate = useNavigate()

  useKeyboard()
  useShortcuts(
    'Everywhere',
    useMemo(
      () => [
        { keys: 'Mod+k', does: 'Command palette', run: () => showPalette((before) => !before) },
        { keys: '?', does: 'Show the keyboard shortcuts', run: () => showKeys(true) },
        { keys: 'g i', does: 'Go to the inbox', run: () => void navigate({ to: '/console/inbox' }) },
        { keys: 'g f', does: 'Go to the fleet', run: () => void navigate({ to: '/console' }) },
        { keys: 'g k', does: 'Go to the tasks', run: () => void navigate({ to: '/console/tasks' }) },
        { keys: 'g l', does: 'Go to the alerts', run: () => void navigate({ to: '/console/alerts' }) },
        { keys: 'n', does: 'New sandbox', run: () => void navigate({ to: '/console/spawn' }) },
        { keys: 'g a', does: 'Go to the administration', run: () => void navigate({ to: '/console/admin' }) },
        { keys: 'g s', does: 'Go to the settings', run: () => void navigate({ to: '/console/settings' }) },
        { keys: 'F6', does: 'Next part of the page', run: () => movePane(1) },
        { keys: 'Shift+F6', does: 'Previous part of the page', run: () => movePane(-1) },
        { keys: 'g t', does: 'Next theme: system, light, dark', run: nextTheme },
      ],
      [navigate],
    ),
  )
  useFocusAfterNavigation(main, path)

  if (live === undefined) return null
  return (
    <Live {...live}>
      <a className={css.skip} href="#main">
        Skip to the content
      </a>
      <div className={css.frame}>
        <Rail onKeys={() => showKeys(true)} />
        <TopBar onPalette={() => showPalette(true)} />
        <main id="main" ref={main} className={css.main} tabIndex={-1}>
          <Boundary of={path}>
            <Suspense fallback={<Skeleton rows={8} label="Loading the page" />}>
              <Outlet />
            </Suspense>
          </Boundary>
        </main>
      </div>
      {isPaletteShown && <Palette onClose={() => showPalette(false)} />}
      {areKeysShown && <KeySheet onClose={() => showKeys(false)} />}
    </Live>
  )
}

interface LiveParts {
  readonly feed: Feed
  readonly watch: FleetWatch
}

/** The feed and the fleet, while the frame is shown. */
function useLive(): LiveParts | undefined {
  const [live, setLive] = useState<LiveParts>()
  useEffect(() => {
    const feed = new Feed()
    const watch = new FleetWatch(feed)
    watch.start()
    feed.start()
    setLive({ feed, watch })
    return () => {
      watch.close()
      feed.close()
    }
  }, [])
  return live
}

function Live({ feed, watch, children }: LiveParts & { children: ReactNode }) {
  return (
    <FeedContext value={feed}>
      <FleetContext value={watch}>{children}</FleetContext>
    </FeedContext>
  )
}

/** Moves the focus to the new screen, so that screen readers announce it. */
function useFocusAfterNavigation(main: React.RefObject<HTMLElement | null>, path: string): void {
  const before = useRef(path)
  useEffect(() => {
    if (before.current !== path) main.current?.focus({ preventScroll: true })
    before.current = path
  }, [main, path])
}
