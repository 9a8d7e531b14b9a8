import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useMemo, useRef } from 'react'
import { useShortcuts } from '~/keys/shortcuts'
import css from './TabBar.module.css'
import { TABS } from './tabs'

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Tabs of a sandbox. Arrow keys move between them, and number keys select one. */
export function TabBar({ sandboxId, chosen }: { sandboxId: string; chosen: string }) {
  const choose = useChoose(sandboxId)
  const bar = useRef<HTMLDivElement>(null)
  useShortcuts(
    'Sandbox',
    useMemo(
      () => TABS.map((tab, i) => ({ keys: String(i + 1), does: `Show: ${tab.label}`, run: () => choose(tab.id) })),
      [choose],
    ),
  )

  useEffect(() => {
    // Scrolls the selected tab into view.
    bar.current?.querySelector(`#tab-${chosen}`)?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
  }, [chosen])

  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = TABS.findIndex((tab) => tab.id === chosen)
    const next = TABS[(at + step + TABS.length) % TABS.length]
    if (next === undefined) return
    choose(next.id)
    bar.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus()
  }

  return (
    <div ref={bar} className={css.bar} role="tablist" aria-label="Parts of the sandbox" onKeyDown={onKeyDown}>
      {TABS.map((tab) => (
        <button
          key={tab.id}
          type="button"
          role="tab"
          id={`tab-${tab.id}`}
          aria-selected={tab.id === chosen}
          tabIndex={tab.id === chosen ? 0 : -1}
          className={css.tab}
          onClick={() => choose(tab.id)}
        >
          <tab.icon size={16} aria-hidden />
          {tab.label}
        </button>
      ))}
    </div>
  )
}

function useChoose(sandboxId: string): (tab: string) => void {
  const navigate = useNavigate()
  return useMemo(
    () => (tab: string) => {
      // All tabs with events share the selected event.
      void navigate({
        to: '/console/sandboxes/$sandboxId',
        params: { sandboxId },
        search: ({ at }: { at?: number }) => ({ at, tab: tab === TABS[0].id ? undefined : tab }),
      })
    },
    [navigate, sandboxId],
  )
}
