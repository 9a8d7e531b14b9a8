import { useNavigate } from '@tanstack/react-router'
import { type RefObject, useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'

interface Doings {
  readonly select: (sandboxId: string) => void
  readonly clear: () => void
  readonly pause: (sandboxId: string) => void
}

/** The keys j and k move the focus from link to link. Enter opens a link, and screen readers read it. */
export function useLineKeys(scroller: RefObject<HTMLDivElement | null>, doings: Doings): void {
  const navigate = useNavigate()
  const latest = useRef(doings)
  latest.current = doings
  const list = useMemo(() => {
    const move = (by: number) => {
      const links = [...(scroller.current?.querySelectorAll<HTMLAnchorElement>('a[data-line]') ?? [])]
      const now = links.findIndex((link) => link.dataset.line === focused())
      const next = now < 0 ? links[0] : links[Math.min(links.length - 1, Math.max(0, now + by))]
      next?.focus()
      next?.scrollIntoView({ block: 'nearest' })
    }
    const withFocused = (act: (id: string) => void) => () => {
      const id = focused()
      if (id !== undefined) act(id)
    }
    const open = (id: string) => void navigate({ to: '/console/sandboxes/$sandboxId', params: { sandboxId: id } })
    return [
      { keys: 'j', does: 'Next sandbox', run: () => move(1) },
      { keys: 'k', does: 'Previous sandbox', run: () => move(-1) },
      { keys: 'o', does: 'Open it', run: withFocused(open) },
      { keys: 'x', does: 'Select it', run: withFocused((id) => latest.current.select(id)) },
      { keys: 'p', does: 'Pause or resume it', run: withFocused((id) => latest.current.pause(id)) },
      { keys: 'Escape', does: 'Select none', run: () => latest.current.clear() },
    ]
  }, [navigate, scroller])
  useShortcuts('Sandboxes', list)
}

/** The sandbox of the row that contains the focus. */
function focused(): string | undefined {
  const line = document.activeElement?.closest<HTMLElement>('[data-sandbox]')
  return line?.dataset.sandbox
}
