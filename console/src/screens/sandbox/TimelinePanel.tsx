import { Composer } from './Composer'
import { Facts } from './Facts'
import { Reviews } from './Reviews'
import css from './SandboxScreen.module.css'
import { TimelineList } from './TimelineList'
import type { PanelProps } from './tabs'

/** What happens, and the box to speak into. */
export function TimelinePanel({ sandbox, watch, actions }: PanelProps) {
  return (
    <div className={css.columns}>
      <div className={css.story}>
        <TimelineList watch={watch} />
        <Reviews sandboxId={sandbox.sandbox_id} />
        <Composer sandbox={sandbox} state={watch.state} actions={actions} />
      </div>
      <Facts sandbox={sandbox} counters={watch.events.counters} />
    </div>
  )
}
