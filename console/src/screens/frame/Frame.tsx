import { Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { Suspense, useEffect, useMemo, useRef, useState } from 'react'
import { KeySheet } from '~/keys/KeySheet'
import { movePane } from '~/keys/panes'
import { useKeyboard, useShortcuts } from '~/keys/shortcuts'
import { FleetWatch } from '~/store/fleet-watch'
import { nextTheme } from '~/theme/theme'
import { Boundary } from '~/ui/Boundary'
import { Skeleton } from '~/ui/States'
import css from './Frame.module.css'
import { FleetContext } from './fleet-context'
import { Palette } from './Palette'
import { Rail } from './Rail'
import { TopBar } from './TopBar'

/** What is around every screen: the rail, the bar and the keys; and the connection that all screens share. */
export function Frame() {
  const [watch, setWatch] = useState<FleetWatch>()
  const [areKeysShown, showKeys] = useState(false)
  const [isPaletteShown, showPalette] = useState(false)
  const main = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  const navigate = useNavigate()

  useEffect(() => {
    const started = new FleetWatch()
    started.start()
    setWatch(started)
    return () => started.close()
  }, [])

  useKeyboard()
  useShortcuts(
    'Everywhere',
    useMemo(
      () => [
        { keys: 'Mod+k', does: 'Command palette', run: () => showPalette((before) => !before) },
        { keys: '?', does: 'Show the keyboard shortcuts', run: () => showKeys(true) },
        { keys: 'g i', does: 'Go to the inbox', run: () => void navigate({ to: '/console/inbox' }) },
        { keys: 'g f', does: 'Go to the fleet', run: () => void navigate({ to: '/console' }) },
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

  if (watch === undefined) return null
  return (
    <FleetContext value={watch}>
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
    </FleetContext>
  )
}

/** Whoever does not see the page change hears it: the focus goes to what is new. */
function useFocusAfterNavigation(main: React.RefObject<HTMLElement | null>, path: string): void {
  const before = useRef(path)
  useEffect(() => {
    if (before.current !== path) main.current?.focus({ preventScroll: true })
    before.current = path
  }, [main, path])
}
