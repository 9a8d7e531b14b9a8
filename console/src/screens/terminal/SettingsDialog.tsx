import { Minus, Plus } from 'lucide-react'
import { useState } from 'react'
import type { Shells } from '~/store/shells'
import { changeTerminalSettings, USUAL_FONT_SIZE, useTerminalSettings } from '~/store/terminal-settings'
import { Button } from '~/ui/Button'
import { Dialog } from '~/ui/Dialog'
import css from './SettingsDialog.module.css'
import { KEYS } from './terminal-keys'

/** Settings of terminals, and the shortcuts that the shell does not receive. */
export function SettingsDialog({ shells, id, onClose }: { shells: Shells; id: string; onClose: () => void }) {
  const { fontSize, isForReaders } = useTerminalSettings()
  const [name, setName] = useState(shells.nameOf(id))
  const resize = (size: number) => changeTerminalSettings({ fontSize: size })
  return (
    <Dialog title="Terminal" onClose={onClose}>
      <div className={css.settings}>
        <label className={css.line}>
          Name of this tab
          <input
            className={css.name}
            value={name}
            maxLength={40}
            onChange={(event) => {
              setName(event.target.value)
              shells.rename(id, event.target.value)
            }}
          />
        </label>
        <div className={css.line}>
          <span id="font-size">Font size</span>
          <fieldset className={css.stepper} aria-labelledby="font-size">
            <Button icon={Minus} compact onClick={() => resize(fontSize - 1)}>
              Smaller
            </Button>
            <output>{fontSize} px</output>
            <Button icon={Plus} compact onClick={() => resize(fontSize + 1)}>
              Larger
            </Button>
            <Button look="quiet" onClick={() => resize(USUAL_FONT_SIZE)}>
              Reset
            </Button>
          </fieldset>
        </div>
        <label className={css.choice}>
          <input
            type="checkbox"
            checked={isForReaders}
            onChange={(event) => changeTerminalSettings({ isForReaders: event.target.checked })}
          />
          <span>
            Screen reader mode
            <small>Renders the output as text for screen readers. Large output is slower.</small>
          </span>
        </label>
        <dl className={css.keys}>
          <Key keys="F6">Leave the terminal</Key>
          <Key keys={KEYS.copy}>Copy the selection</Key>
          <Key keys={KEYS.paste}>Paste</Key>
          <Key keys={KEYS.search}>Search</Key>
        </dl>
      </div>
    </Dialog>
  )
}

function Key({ keys, children }: { keys: string; children: string }) {
  return (
    <div>
      <dt>{children}</dt>
      <dd>
        <kbd>{keys}</kbd>
      </dd>
    </div>
  )
}
