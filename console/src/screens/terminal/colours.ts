import type { ITheme } from '@xterm/xterm'
import { useSyncExternalStore } from 'react'
import { useTheme } from '~/theme/theme'

const ANSI = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const DARK = '(prefers-color-scheme: dark)'

/** The colours of a terminal as the style sheet has them for the theme of now. */
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

/** The colours that a search marks what it found with. */
export function marksAt(place: HTMLElement): { found: string; current: string } {
  const probe = document.createElement('span')
  place.append(probe)
  probe.style.color = 'var(--t-found)'
  probe.style.backgroundColor = 'var(--t-current)'
  const { color, backgroundColor } = getComputedStyle(probe)
  probe.remove()
  return { found: hex(color), current: hex(backgroundColor) }
}

/** A word that is another when the colours are: the choice, and what the system has. */
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

/** The search add-on takes `#rrggbb` alone. */
function hex(colour: string): string {
  const parts = colour.match(/\d+/g)?.slice(0, 3) ?? []
  return `#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`
}
