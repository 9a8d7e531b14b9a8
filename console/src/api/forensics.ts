/** URL of the forensics of a run. */
export function forensicsUrl(runId: string): string {
  return `/api/v1/runs/${encodeURIComponent(runId)}/forensics`
}
