import { Link } from '@tanstack/react-router'
import { Check, CircleAlert, Info, type LucideIcon, TriangleAlert } from 'lucide-react'
import { sentence } from '~/api/problem'
import type { Alert, Severity } from '~/api/supervision'
import { isAcknowledged } from '~/store/alerts'
import { Button } from '~/ui/Button'
import { Clamp } from '~/ui/Clamp'
import form from '~/ui/form.module.css'
import { plain } from '~/ui/format'
import { When } from '~/ui/When'
import css from './Alerts.module.css'
import { useAcknowledge } from './use-alerts'

export const LOOKS: Readonly<Record<Severity, { icon: LucideIcon; word: string }>> = {
  critical: { icon: CircleAlert, word: 'Critical' },
  warning: { icon: TriangleAlert, word: 'Warning' },
  info: { icon: Info, word: 'Info' },
}

export function AlertList({ alerts }: { alerts: readonly Alert[] }) {
  const { mutate, error, variables, isPending } = useAcknowledge()
  if (alerts.length === 0) return null
  return (
    <>
      {error && (
        <p role="alert" className={form.problem}>
          {sentence(error)}
        </p>
      )}
      <ul className={css.list} aria-label="Alerts">
        {alerts.map((alert) => (
          <AlertItem
            key={alert.alert_id}
            alert={alert}
            isPending={isPending && variables?.alert_id === alert.alert_id}
            onAcknowledge={() => mutate(alert)}
          />
        ))}
      </ul>
    </>
  )
}

interface ItemProps {
  readonly alert: Alert
  readonly isPending: boolean
  readonly onAcknowledge: () => void
}

function AlertItem({ alert, isPending, onAcknowledge }: ItemProps) {
  const { icon: Icon, word } = LOOKS[alert.severity] ?? LOOKS.info
  const isDone = isAcknowledged(alert)
  return (
    <li className={css.alert} data-severity={isDone ? undefined : alert.severity}>
      <div className={css.head}>
        <span className={css.severity}>
          <Icon size={15} aria-hidden />
          {word}
        </span>
        <strong className={css.title}>{plain(alert.title)}</strong>
        <span className={css.when}>
          <When at={alert.at} />
        </span>
      </div>
      {alert.detail && (
        <div className={css.detail}>
          <Clamp lines={4} of="alert">
            {plain(alert.detail)}
          </Clamp>
        </div>
      )}
      <div className={css.foot}>
        <code>{alert.type}</code>
        {alert.user_id && <span>{plain(alert.user_id)}</span>}
        {alert.task_id && (
          <Link to="/console/tasks/$taskId" params={{ taskId: alert.task_id }}>
            Open the task
          </Link>
        )}
        {alert.sandbox_id && (
          <Link
            to="/console/sandboxes/$sandboxId"
            params={{ sandboxId: alert.sandbox_id }}
            search={{ at: alert.log === alert.sandbox_id ? alert.seq : undefined }}
          >
            Open the run
          </Link>
        )}
        {isDone ? (
          <span className={css.done}>
            <Check size={14} aria-hidden />
            Acknowledged{alert.acknowledged_by && ` by ${plain(alert.acknowledged_by)}`}
          </span>
        ) : (
          <Button className={css.acknowledge} icon={Check} disabled={isPending} onClick={onAcknowledge}>
            Acknowledge<span className="visually-hidden"> {plain(alert.title)}</span>
          </Button>
        )}
      </div>
    </li>
  )
}
