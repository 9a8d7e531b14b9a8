import { Dialog } from '~/ui/Dialog'
import css from './KeySheet.module.css'
import { type Group, type Shortcut, shortcuts, useShortcutGroups, useSingleKeys } from './shortcuts'

export const MOD = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'

/** Dialog with all keyboard shortcuts of the current screen. */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const groups = merged(useShortcutGroups())
  const areSingleOn = useSingleKeys()
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      {[...groups].map(([name, list]) => (
        <section key={name} className={css.group}>
          <h3>{name}</h3>
          <dl className={css.list}>
            {list.map((shortcut) => (
              <div key={shortcut.keys} className={css.line}>
                <dt>{shortcut.does}</dt>
                <dd>
                  <Keys of={shortcut.keys} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <label className={css.setting}>
        <input type="checkbox" checked={areSingleOn} onChange={(event) => shortcuts.setSingle(event.target.checked)} />
        Keys without Ctrl or Alt
      </label>
    </Dialog>
  )
}

/** Several parts of a screen can have shortcuts of one group. */
function merged(groups: readonly Group[]): ReadonlyMap<string, readonly Shortcut[]> {
  const all = new Map<string, readonly Shortcut[]>()
  for (const group of groups) all.set(group.name, [...(all.get(group.name) ?? []), ...group.shortcuts])
  return all
}

export function Keys({ of }: { of: string }) {
  return of.split(' ').map((press) => (
    <kbd key={press} className={css.key}>
      {press.replace('Mod+', `${MOD} `).replace('Alt+', 'Alt ').replace('Shift+', 'Shift ')}
    </kbd>
  ))
}
