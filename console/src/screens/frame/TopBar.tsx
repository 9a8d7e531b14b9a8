import { Link, useMatches, useRouteContext } from '@tanstack/react-router'
import { LogOut, Monitor, Moon, Search, Sun } from 'lucide-react'
import { MOD } from '~/keys/KeySheet'
import { nextTheme, type Theme, useTheme } from '~/theme/theme'
import { Button } from '~/ui/Button'
import { ConnectionPill } from './ConnectionPill'
import css from './Frame.module.css'
import { useSignOut } from './use-sign-out'

const THEMES: Record<Theme, { icon: typeof Sun; word: string }> = {
  system: { icon: Monitor, word: 'Theme: system' },
  light: { icon: Sun, word: 'Theme: light' },
  dark: { icon: Moon, word: 'Theme: dark' },
}

export function TopBar({ onPalette }: { onPalette: () => void }) {
  const { session } = useRouteContext({ from: '/frame' })
  const theme = THEMES[useTheme()]
  const leave = useSignOut()
  return (
    <header className={css.bar} data-pane>
      <Trail />
      <Button look="quiet" icon={Search} className={css.search} onClick={onPalette} aria-label={`Search… ${MOD} K`}>
        <span className={css.wide}>Search… </span>
        <kbd>{MOD} K</kbd>
      </Button>
      <ConnectionPill />
      <Button look="quiet" compact icon={theme.icon} onClick={nextTheme} title={theme.word}>
        {theme.word}
      </Button>
      <span className={css.user} title={`Vivarium ${session.server.version}`}>
        {session.user_id}
        {session.is_admin && <span className={css.admin}>admin</span>}
      </span>
      <Button look="quiet" compact icon={LogOut} onClick={leave} title="Sign out">
        Sign out
      </Button>
    </header>
  )
}

/** Link to the parent page, and the id of the sandbox or task. */
function Trail() {
  const { sandboxId, taskId } = useMatches({ select: idsOf })
  return (
    <div className={css.trail}>
      {sandboxId !== undefined && (
        <>
          <Link to="/console">Fleet</Link>
          <span aria-hidden>/</span>
          <code>{sandboxId}</code>
        </>
      )}
      {taskId !== undefined && (
        <>
          <Link to="/console/tasks">Tasks</Link>
          <span aria-hidden>/</span>
          <code>{taskId}</code>
        </>
      )}
    </div>
  )
}

function idsOf(matches: readonly { readonly params: object }[]): { sandboxId?: string; taskId?: string } {
  return Object.assign({}, ...matches.map((match) => match.params))
}
