import { type Alert, SEVERITIES, type Severity } from '~/api/supervision'

/** Types of events from which the server makes alerts, or their prefixes. */
const ALERTING = [
  'workflow.',
  'conductor.',
  'anomaly.',
  'webhook.',
  'guardian.stopped',
  'guardian.paused',
  'sandbox.terminated_idle',
  'sandbox.quarantined',
  'sandbox.review_expired',
  'review.',
  'task.failed',
]

/** Whether the server may make an alert from an event of this type. */
export function isAlerting(type: string): boolean {
  return ALERTING.some((one) => type.startsWith(one))
}

export function isAcknowledged(alert: Alert): boolean {
  return alert.acknowledged_at !== undefined
}

/** The alerts to show: open ones by severity, then the newest first. */
export function arranged(alerts: readonly Alert[], severity: Severity | undefined, withAcknowledged: boolean): Alert[] {
  return alerts
    .filter((alert) => severity === undefined || alert.severity === severity)
    .filter((alert) => withAcknowledged || !isAcknowledged(alert))
    .toSorted(
      (a, b) =>
        Number(isAcknowledged(a)) - Number(isAcknowledged(b)) ||
        SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
        b.at.localeCompare(a.at),
    )
}

/** Number of open alerts that need a person. */
export function openCount(alerts: readonly Alert[]): number {
  return alerts.filter((alert) => !isAcknowledged(alert) && alert.severity !== 'info').length
}
