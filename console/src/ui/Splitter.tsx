import { type KeyboardEvent, type PointerEvent, useLayoutEffect, useRef, useState } from 'react'
import css from './Splitter.module.css'

const STEP_PX = 24

interface Props {
  /** Name of the pane. The width is stored under this name, and is `--pane-‹name›` in the styles. */
  readonly name: string
  readonly label: string
  /** Whether the pane is before or after the splitter. */
  readonly pane: 'before' | 'after'
  readonly least?: number
  readonly most?: number
}

/** Splitter between two panes, moved by pointer or arrow keys. A double click restores the default width. */
export function Splitter({ name, label, pane, least = 200, most = 720 }: Props) {
  const handle = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(() => kept(name))
  useLayoutEffect(() => {
    const style = handle.current?.parentElement?.style
    if (width === undefined) style?.removeProperty(`--pane-${name}`)
    else style?.setProperty(`--pane-${name}`, `${width}px`)
  }, [name, width])

  const set = (wanted: number | undefined) => {
    const next = wanted === undefined ? undefined : Math.round(Math.min(most, Math.max(least, wanted)))
    setWidth(next)
    keep(name, next)
  }
  const box = () => {
    const beside = pane === 'before' ? handle.current?.previousElementSibling : handle.current?.nextElementSibling
    return beside?.getBoundingClientRect() ?? new DOMRect()
  }
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId)) return
    set(pane === 'before' ? event.clientX - box().left : box().right - event.clientX)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowRight: STEP_PX, ArrowLeft: -STEP_PX }[event.key]
    const next = by !== undefined ? box().width + (pane === 'before' ? by : -by) : END[event.key]?.(least, most)
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    set(next)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is not a line between paragraphs
    <div
      ref={handle}
      role="separator"
      tabIndex={0}
      className={css.splitter}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width ?? least}
      aria-valuemin={least}
      aria-valuemax={most}
      title="Drag to resize. Two clicks reset it"
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
      onDoubleClick={() => set(undefined)}
    />
  )
}

const END: Readonly<Record<string, (least: number, most: number) => number>> = {
  Home: (least) => least,
  End: (_, most) => most,
}

function kept(name: string): number | undefined {
  const width = Number(localStorage.getItem(`pane-${name}`) ?? Number.NaN)
  return Number.isFinite(width) && width > 0 ? width : undefined
}

function keep(name: string, width: number | undefined): void {
  if (width === undefined) localStorage.removeItem(`pane-${name}`)
  else localStorage.setItem(`pane-${name}`, String(width))
}
