import type { ITheme } from '@xterm/xterm'
import { useSyncExternalStore } from 'react'
import { useTheme } from '~/theme/theme'

const ANSI = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const DARK = '(prefers-color-scheme: dark)'

/** Colours of a terminal from the style sheet of the current theme. */
export function coloursAt(place: HTMLElement): ITheme {
  const probe = document.createElement('span')
  place.append(probe)
  const colour = (name: string): string => {
    probe.style.color = `var(--t-${name})`
    return getComputedStyle(probe).color
  }
  const theme: Record<string, string> = {
    foreground: colour('text'),
    background: colour('ground'),
    cursor: colour('cursor'),
    cursorAccent: colour('ground'),
    selectionBackground: colour('chosen'),
    scrollbarSliderBackground: colour('slider'),
    scrollbarSliderHoverBackground: colour('slider-hover'),
    scrollbarSliderActiveBackground: colour('slider-hover'),
  }
  for (const name of ANSI) {
    theme[name] = colour(name)
    theme[`bright${name[0]?.toUpperCase()}${name.slice(1)}`] = colour(`bright-${name}`)
  }
  probe.remove()
  return theme
}

/** Colours of search matches. */
export function marksAt(place: HTMLElement): { found: string; current: string } {
  const probe = document.createElement('span')
  place.append(probe)
  probe.style.color = 'var(--t-found)'
  probe.style.backgroundColor = 'var(--t-current)'
  const { color, backgroundColor } = getComputedStyle(probe)
  probe.remove()
  return { found: hex(color), current: hex(backgroundColor) }
}

/** Key that changes with the colours: the chosen theme, and that of the system. */
export function useColourScheme(): string {
  const theme = useTheme()
  const isDark = useSyncExternalStore(subscribeToSystem, () => matchMedia(DARK).matches)
  return theme === 'system' ? (isDark ? 'dark' : 'light') : theme
}

function subscribeToSystem(listener: () => void): () => void {
  const query = matchMedia(DARK)
  query.addEventListener('change', listener)
  return () => query.removeEventListener('change', listener)
}

/** The search add-on accepts only `#rrggbb`. */
function hex(colour: string): string {
  const parts = colour.match(/\d+/g)?.slice(0, 3) ?? []
  return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
}
