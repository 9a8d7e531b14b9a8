import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes } from 'react'
import css from './Button.module.css'

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly icon?: LucideIcon
  /** Shows only the icon; the text is the accessible name. */
  readonly compact?: boolean
}

export function Button({ look = 'plain', icon: Icon, compact = false, children, className = '', ...rest }: Props) {
  return (
    <button type="button" className={`${css.button} ${css[look]} ${compact ? css.compact : ''} ${className}`} {...rest}>
      {Icon && <Icon size={16} aria-hidden />}
      <span className={compact ? 'visually-hidden' : undefined}>{children}</span>
    </button>
  )
}
