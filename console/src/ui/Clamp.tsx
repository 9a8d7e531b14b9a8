import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import css from './Clamp.module.css'

const CODE_PADDING_PX = 16

interface Props {
  /** Number of lines shown before the text is expanded. */
  readonly lines: number
  /** Name of the text, for the button: `Show all of the ‹task›`. */
  readonly of: string
  readonly isCode?: boolean
  readonly children: ReactNode
}

/** Long text: its first lines, and a button that expands it. */
export function Clamp({ lines, of, isCode = false, children }: Props) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const [box, isCut] = useIsCut(isOpen)
  return (
    <div className={css.clamp}>
      <div
        ref={box}
        id={id}
        className={isCode ? css.code : undefined}
        data-clamped={!isOpen || undefined}
        style={{ maxHeight: isOpen ? undefined : `calc(${lines} * 1lh + ${isCode ? CODE_PADDING_PX : 0}px)` }}
      >
        {children}
      </div>
      {isCut && (
        <button
          type="button"
          className={css.more}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? 'Show less' : 'Show all'}
          <span className="visually-hidden"> of the {of}</span>
        </button>
      )}
    </div>
  )
}

/** Whether a box clips its content. Stays true while the box is expanded. */
function useIsCut(isOpen: boolean) {
  const box = useRef<HTMLDivElement>(null)
  const [isCut, setCut] = useState(false)
  useEffect(() => {
    const element = box.current
    if (element === null || isOpen) return
    const measure = () => setCut(element.scrollHeight > element.clientHeight + 1)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    for (const child of element.children) observer.observe(child)
    measure()
    return () => observer.disconnect()
  }, [isOpen])
  return [box, isCut] as const
}
