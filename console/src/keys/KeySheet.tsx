import { Dialog } from '~/ui/Dialog'
import css from './KeySheet.module.css'
import { shortcuts, useShortcutGroups, useSingleKeys } from './shortcuts'

export const MOD = navigator.platform.startsWith('Mac') ? '⌘' : 'Ctrl'

/** All keys that mean something now. */
export function KeySheet({ onClose }: { onClose: () => void }) {
  const groups = useShortcutGroups()
  const areSingleOn = useSingleKeys()
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      {groups.map((group) => (
        <section key={group.name} className={css.group}>
          <h3>{group.name}</h3>
          <dl className={css.list}>
            {group.shortcuts.map((shortcut) => (
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

export function Keys({ of }: { of: string }) {
  return of.split(' ').map((press) => (
    <kbd key={press} className={css.key}>
      {press.replace('Mod+', `${MOD} `).replace('Alt+', 'Alt ').replace('Shift+', 'Shift ')}
    </kbd>
  ))
}
